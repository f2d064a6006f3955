import { assert, describe, it } from "@effect/vitest"
import { bundledCatalogue, catalogueOf } from "@runplane/prices"
import * as Result from "effect/Result"

const provider = {
  id: "ours",
  name: "Ours",
  api_pattern: "ours",
  model_match: { starts_with: "our-" },
  models: [
    {
      id: "our-model",
      match: { starts_with: "our-model" },
      prices: [
        { prices: { input_mtok: 4, output_mtok: 8 } },
        { constraint: { type: "start_date", start_date: "2026-01-01" }, prices: { input_mtok: 2, output_mtok: 4 } }
      ]
    }
  ]
}

describe("a file of the catalogue", () => {
  it("replaces the bundled prices, and has prices by date", () => {
    const catalogue = Result.getOrThrow(catalogueOf(JSON.stringify([provider]), "2026-11-25"))
    const rates = (date: string) => catalogue.find({ model: "our-model-1" }, Date.parse(date))?.rates
    assert.strictEqual(catalogue.version, "2026-11-25")
    assert.deepStrictEqual(rates("2025-06-01"), { input: 4, output: 8 })
    assert.deepStrictEqual(rates("2026-06-01"), { input: 2, output: 4 })
    assert.isUndefined(catalogue.find({ model: "gpt-4o", provider: "openai" }, 0))
    assert.strictEqual(bundledCatalogue.find({ model: "gpt-4o", provider: "openai" }, 0)?.rates.input, 2.5)
    assert.deepStrictEqual(rates("2026-06-01"), { input: 2, output: 4 })
  })

  it.each([
    ["no JSON", "{"],
    ["no list", "{}"],
    ["an empty list", "[]"],
    [
      "a regular expression that could take long",
      JSON.stringify([{ ...provider, models: [{ ...provider.models[0], match: { or: [{ regex: "(a+)+$" }] } }] }])
    ],
    ["a provider without models", '[{"id": "a"}]'],
    ["a model without prices", '[{"id": "a", "models": [{"id": "b", "match": {"equals": "b"}}]}]'],
    [
      "a condition of another kind",
      JSON.stringify([
        { ...provider, models: [{ ...provider.models[0], prices: [{ constraint: { moon: "full" }, prices: {} }] }] }
      ])
    ]
  ])("with %s is refused", (_, text) => {
    const result = catalogueOf(text, "2026-11-25")
    assert.isTrue(Result.isFailure(result) && result.failure.message.startsWith("is not a list of model prices: "))
  })
})
