import { assert, describe, it } from "@effect/vitest"
import {
  highestRate,
  leastWithoutFailure,
  lowestRate,
  mcNemar,
  pairedPower,
  pairedRunsNeeded,
  shareOfCases,
  wilson
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const integer = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

describe("pairs of one session", () => {
  it("are as probable by McNemar's exact test as by hand", () => {
    // 1 of 8: (1 + 8) / 256, both sides.
    assert.approximately(mcNemar({ firstOnly: 1, secondOnly: 7 }), 18 / 256, 1e-12)
    assert.strictEqual(mcNemar({ firstOnly: 0, secondOnly: 0 }), 1)
    assert.strictEqual(mcNemar({ firstOnly: 4, secondOnly: 4 }), 1)
    assert.approximately(mcNemar({ firstOnly: 0, secondOnly: 6 }), 2 / 64, 1e-12)
  })

  it("need the fewest runs with a chance of 80 %: one fewer does not reach it", () => {
    for (const test of [
      { discordance: 0.1, difference: 0.05 },
      { discordance: 0.3, difference: 0.1, power: 0.9 },
      { discordance: 0.04, difference: 0.04, alpha: 0.01 }
    ]) {
      const needed = pairedRunsNeeded(test) ?? Number.NaN
      const wanted = test.power ?? 0.8
      assert.isAtLeast(pairedPower(needed, test), wanted)
      assert.isBelow(pairedPower(needed - 1, test), wanted)
    }
  })

  it("need fewer runs where both mostly agree, and fewer than two separate samples", () => {
    const needed = [0.05, 0.1, 0.2, 0.4].map((discordance) => pairedRunsNeeded({ discordance, difference: 0.05 }) ?? 0)
    assert.deepStrictEqual(
      needed.toSorted((one, other) => one - other),
      needed
    )
    // Two samples of 90 % and 85 % need 686 runs each (Fleiss 1981, without correction).
    assert.isBelow(needed[1] ?? Number.NaN, 400)
  })

  it("have no size for a difference of 0, above the discordance, or too small to find", () => {
    assert.isUndefined(pairedRunsNeeded({ discordance: 0.1, difference: 0 }))
    assert.isUndefined(pairedRunsNeeded({ discordance: 0.1, difference: 0.2 }))
    assert.isUndefined(pairedRunsNeeded({ discordance: 0, difference: 0.1 }))
    assert.isUndefined(pairedRunsNeeded({ discordance: 0.5, difference: 0.01 }))
  })
})

describe("exact bounds of a rate", () => {
  it.prop("contain the rate and mirror each other", [integer(0, 300), integer(1, 300)], ([drawn, n]) => {
    const count = Math.min(drawn, n)
    const [low, high] = [lowestRate(count, n), highestRate(count, n)]
    assert.isTrue(low <= count / n && count / n <= high)
    assert.approximately(low, 1 - highestRate(n - count, n), 1e-12)
    assert.isTrue(lowestRate(count, n, 0.01) <= low)
  })

  it("of no failure need the known numbers of runs", () => {
    assert.deepStrictEqual(
      [0.9, 0.95, 0.98, 0.99].map((rate) => leastWithoutFailure(rate, 0.05)),
      [29, 59, 149, 299]
    )
    assert.deepStrictEqual([lowestRate(0, 0), highestRate(0, 0)], [0, 1])
  })
})

describe("a share of runs", () => {
  it("has Wilson's interval where each run is a case", () => {
    const { cases, count, n, ...interval } = shareOfCases([1, 1, 1, 1, 0], [1, 0, 1, 1, 0])
    assert.deepStrictEqual({ cases, count, n }, { cases: 4, count: 3, n: 4 })
    assert.deepStrictEqual(interval, wilson(3, 4))
  })

  it("has the interval of as many runs as cases where repeats always agree", () => {
    const [runs, having] = [
      Array.from({ length: 40 }, () => 5),
      Array.from({ length: 40 }, (_, at) => (at < 30 ? 5 : 0))
    ]
    const found = shareOfCases(runs, having)
    const cases = wilson(30, 40)
    assert.approximately(found.low, cases.low, 0.01)
    assert.approximately(found.high, cases.high, 0.01)
    assert.deepInclude(shareOfCases(runs, runs), { count: 200, n: 200, cases: 40, low: wilson(40, 40).low, high: 1 })
  })

  it("of repeats of one case alone is that of one run", () => {
    assert.deepInclude(shareOfCases([100], [60]), { rate: 0.6, low: wilson(0.6, 1).low, high: wilson(0.6, 1).high })
  })
})
