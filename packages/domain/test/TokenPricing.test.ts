import { assert, describe, it } from "@effect/vitest"
import { builtinTokenPricing, estimateCostUsd, parseTokenPricing } from "@runplane/domain"
import * as Result from "effect/Result"

const MILLION = 1_000_000

describe("TokenPricing", () => {
  it.each([
    ["vendor1-4o", 2.5, 10],
    ["vendor1-4o-mini", 0.15, 0.6],
    ["vendor1-4-turbo", 10, 30],
    ["vendor2-3-opus", 15, 75],
    ["vendor2-3-sonnet", 3, 15],
    ["vendor2-3-haiku", 0.25, 1.25],
    ["some other model", 1, 3],
    [undefined, 1, 3]
  ])("prices a million tokens of %s at %d and %d US dollars", (model, prompt, completion) => {
    assert.strictEqual(estimateCostUsd(builtinTokenPricing, model, MILLION, 0), prompt)
    assert.strictEqual(estimateCostUsd(builtinTokenPricing, model, 0, MILLION), completion)
    assert.strictEqual(estimateCostUsd(builtinTokenPricing, model, MILLION, MILLION), prompt + completion)
  })

  it("does not take an inherited property for a price", () => {
    assert.strictEqual(estimateCostUsd(builtinTokenPricing, "constructor", MILLION, 0), 1)
  })

  it("puts the models, aliases and fallback of a pricing file on top of the built-in table", () => {
    const pricing = Result.getOrThrow(
      parseTokenPricing({
        models: { house: { prompt: 7, completion: 8 }, "vendor1-4o": { prompt: 1, completion: 2 } },
        aliases: { "house-2026-01": "house", opus: "vendor2-3-opus" },
        fallback: { prompt: 0, completion: 0 }
      })
    )
    const price = (model: string) => estimateCostUsd(pricing, model, MILLION, 0)
    assert.deepStrictEqual(
      ["house", "house-2026-01", "opus", "vendor1-4o", "vendor2-3-haiku", "unknown"].map(price),
      [7, 7, 15, 1, 0.25, 0]
    )
  })

  it.each([
    ["text", "gpt"],
    ["a negative price", { models: { m: { prompt: -1, completion: 0 } } }],
    ["a missing price", { models: { m: { prompt: 1 } } }],
    ["an unknown key", { prices: {} }],
    ["an alias of nothing", { aliases: { a: "nowhere" } }]
  ])("refuses a pricing file with %s and says why", (_, json) => {
    const result = parseTokenPricing(json)
    assert.isTrue(Result.isFailure(result) && result.failure.message.startsWith("invalid token pricing: "))
  })
})
