import { assert, describe, it } from "@effect/vitest"
import { type ModelCatalogue, makeModelPrices, readPriceFile, specifiedPrices } from "@runplane/domain"
import * as Result from "effect/Result"

const MILLION = 1_000_000
const AT = Date.parse("2026-06-01T00:00:00Z")

/** A catalogue of one model. */
const catalogue = (find: ModelCatalogue["find"] = () => undefined): ModelCatalogue => ({ version: "7", find })
const oneModel = catalogue(({ model, provider }) =>
  model === "gpt-4o" && provider !== "local" ? { id: "openai/gpt-4o", rates: { input: 2.5, output: 10 } } : undefined
)

describe("model prices", () => {
  it.each([
    ["vendor1-4o", 2.5, 10],
    ["vendor1-4o-mini", 0.15, 0.6],
    ["vendor1-4-turbo", 10, 30],
    ["vendor2-3-opus", 15, 75],
    ["vendor2-3-sonnet", 3, 15],
    ["vendor2-3-haiku", 0.25, 1.25],
    ["some other model", 1, 3],
    ["constructor", 1, 3],
    [undefined, 1, 3]
  ])("price a million tokens of %s at %d and %d US dollars, with and without a catalogue", (model, input, output) => {
    for (const prices of [specifiedPrices, makeModelPrices(undefined, oneModel)]) {
      const cost = (usage: { input: number; output: number }) => prices.price({ model, at: AT, usage }).costUsd
      assert.strictEqual(cost({ input: MILLION, output: 0 }), input)
      assert.strictEqual(cost({ input: 0, output: MILLION }), output)
      assert.strictEqual(cost({ input: MILLION, output: MILLION }), input + output)
    }
  })

  it.each([
    "vendor1/vendor1-4o-2024-08-06",
    "Vendor1-4o",
    " vendor1 4o ",
    "vendor1-4o-20240806",
    "gateway/vendor1/vendor1-4o"
  ])("find the built-in model of %o with a catalogue, and guess without one", (model) => {
    assert.deepInclude(makeModelPrices(undefined, oneModel).find({ model, at: AT }), {
      basis: "builtin",
      key: "builtin/vendor1-4o"
    })
    assert.strictEqual(specifiedPrices.find({ model, at: AT }).basis, "fallback")
  })

  it("take the first of the file, the built-in table, the catalogue, and the fallback", () => {
    const file = { models: { "vendor1-4o": { prompt: 7, completion: 8 }, "gpt-4o": { prompt: 9, completion: 9 } } }
    const prices = makeModelPrices(Result.getOrThrow(readPriceFile(JSON.stringify(file))), oneModel)
    const basisOf = (model: string) => {
      const { basis, key } = prices.find({ model, at: AT })
      return [basis, key]
    }
    assert.deepStrictEqual(["vendor1-4o", "openai/gpt-4o", "vendor2-3-opus", "other"].map(basisOf), [
      ["override", "file/vendor1-4o"],
      ["override", "file/gpt-4o"],
      ["builtin", "builtin/vendor2-3-opus"],
      ["fallback", undefined]
    ])
    assert.deepStrictEqual(makeModelPrices(undefined, oneModel).find({ model: "gpt-4o-2024-08-06", at: AT }), {
      rates: { input: 2.5, output: 10 },
      basis: "catalogue",
      key: "openai/gpt-4o@7"
    })
  })

  it("search the lists once for 4,096 models, and again when a half hour has passed", () => {
    let searches = 0
    const counting = catalogue(() => {
      searches += 1
      return { id: "any", rates: { input: 1, output: 1 } }
    })
    const prices = makeModelPrices(undefined, counting)
    const ask = (index: number, at = AT) => prices.find({ model: `m${index}`, at })
    for (let round = 0; round < 3; round++) for (let index = 0; index < 4096; index++) ask(index)
    assert.strictEqual(searches, 4096)
    ask(4095, AT + 1_800_000)
    assert.strictEqual(searches, 4097)
    ask(0)
    assert.strictEqual(searches, 4097)
    ask(4096)
    assert.strictEqual(searches, 4098)
    ask(1)
    assert.strictEqual(searches, 4098)
    ask(0)
    assert.strictEqual(searches, 4099)
  })

  it("keep the prices of each provider of a model apart, and those of a few", () => {
    let searches = 0
    const prices = makeModelPrices(
      undefined,
      catalogue(({ provider }) => {
        searches += 1
        return { id: `${provider}`, rates: { input: 1, output: 1 } }
      })
    )
    const ask = (provider: string) => prices.find({ model: "m", provider, at: AT }).key
    for (let round = 0; round < 3; round++) assert.deepStrictEqual(["a", "b"].map(ask), ["a@7", "b@7"])
    assert.strictEqual(searches, 2)
    for (let index = 0; index < 100; index++) assert.strictEqual(ask(`p${index}`), `p${index}@7`)
  })
})
