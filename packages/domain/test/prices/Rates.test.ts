import { assert, describe, it } from "@effect/vitest"
import { costOf, type PricedUsage, type Rates } from "@runplane/domain"
import * as Schema from "effect/Schema"

const MILLION = 1_000_000

const rates: Rates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }

describe("the cost of a call", () => {
  it.each<[string, Rates, PricedUsage, number]>([
    ["prices input and output", rates, { input: MILLION, output: MILLION }, 18],
    ["prices the parts of the input", rates, { input: 100, output: 0, cacheRead: 60, cacheWrite: 30 }, 0.0001605],
    [
      "prices a cached token as input without a rate",
      { input: 2, output: 1 },
      { input: MILLION, output: 0, cacheRead: MILLION },
      2
    ],
    ["cuts parts that exceed the whole", rates, { input: MILLION, output: 0, cacheRead: 5 * MILLION }, 0.3],
    ["prices reasoning as output without a rate", rates, { input: 0, output: MILLION, reasoning: MILLION }, 15],
    [
      "prices reasoning by its rate",
      { ...rates, reasoning: 20 },
      { input: 0, output: MILLION, reasoning: 500_000 },
      17.5
    ],
    [
      "prices a token of a tenth of a cent a million",
      { input: 0.035, output: 0 },
      { input: 1, output: 0 },
      0.000000035
    ],
    ["multiplies a call of a batch", { ...rates, batchFactor: 0.5 }, { input: MILLION, output: 0, batch: true }, 1.5],
    ["keeps the price of a call outside of a batch", { ...rates, batchFactor: 0.5 }, { input: MILLION, output: 0 }, 3]
  ])("%s", (_, price, usage, cost) => {
    assert.strictEqual(costOf(price, usage), cost)
  })

  it("prices all tokens of a call by the tier of its input", () => {
    const tiered: Rates = { ...rates, tiers: [{ above: 200_000, input: 6, output: 22.5 }] }
    assert.strictEqual(costOf(tiered, { input: 200_000, output: MILLION }), 15.6)
    assert.strictEqual(costOf(tiered, { input: 200_001, output: MILLION }), 23.700006)
    assert.strictEqual(costOf(tiered, { input: 400_000, output: 0, cacheRead: 400_000 }), 0.12)
  })

  const Rate = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000_000 }))
  const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 * MILLION }))
  const drawn = {
    input: Rate,
    output: Rate,
    cacheRead: Rate,
    cacheWrite: Rate,
    reasoning: Rate,
    more: Rate,
    above: Count
  }
  const Drawn = Schema.Struct(drawn)
  const ratesOf = ({ above, more, ...price }: typeof Drawn.Type): Rates => ({
    input: price.input / MILLION,
    output: price.output / MILLION,
    cacheRead: price.cacheRead / MILLION,
    cacheWrite: price.cacheWrite / MILLION,
    reasoning: price.reasoning / MILLION,
    tiers: [{ above, input: (price.input + more) / MILLION, output: (price.output + more) / MILLION }]
  })

  const parts = { cacheRead: Count, cacheWrite: Count, reasoning: Count, batch: Schema.Boolean }

  it.prop(
    "does not fall when a call has more input or output tokens, whatever their parts",
    { price: Drawn, input: Count, output: Count, moreInput: Count, moreOutput: Count, parts: Schema.Struct(parts) },
    ({ input, moreInput, moreOutput, output, parts: of, price }) => {
      const rate = { ...ratesOf(price), batchFactor: 0.5 }
      const cost = costOf(rate, { ...of, input, output })
      assert.isAtLeast(cost, 0)
      assert.isAtMost(cost, costOf(rate, { ...of, input: input + moreInput, output }))
      assert.isAtMost(cost, costOf(rate, { ...of, input, output: output + moreOutput }))
    }
  )

  it.prop(
    "moves in one direction when more of its tokens are cached, written to a cache, or reasoning",
    { price: Drawn, input: Count, output: Count, parts: Schema.Struct(parts), one: Count, two: Count },
    ({ input, one, output, parts: of, price, two }) => {
      for (const part of ["cacheRead", "cacheWrite", "reasoning"] as const) {
        const cost = (count: number) => costOf(ratesOf(price), { ...of, input, output, [part]: count })
        const [first, second, third] = [cost(0), cost(one), cost(one + two)]
        // Tokens that become cached may have counted as written to a cache before, at a lower rate.
        if (part === "cacheRead" && of.cacheWrite > 0) continue
        assert.isAtLeast((second - first) * (third - second), 0, part)
        if (part === "cacheRead") assert.isAtMost(third, first)
      }
    }
  )

  it.prop(
    "is not above the cost without a cache when tokens are read from one",
    { price: Drawn, input: Count, cacheRead: Count },
    ({ cacheRead, input, price }) => {
      const rate = ratesOf(price)
      assert.isAtMost(costOf(rate, { input, output: 0, cacheRead }), costOf(rate, { input, output: 0 }))
    }
  )
})
