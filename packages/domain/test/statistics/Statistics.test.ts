import { assert, describe, it } from "@effect/vitest"
import {
  fisherDrop,
  holm,
  levelOf,
  looksOf,
  meanInterval,
  p95Difference,
  p95Estimate,
  percentile,
  runsNeeded,
  twoSidedT,
  wilson
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const close = (actual: number, expected: number, within: number) =>
  assert.isAtMost(Math.abs(actual - expected), within, `${actual} instead of ${expected}`)

const integer = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const number = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

const counts = Arbitrary.map(
  Arbitrary.schema(Schema.Struct({ left: integer(0, 400), right: integer(1, 400) })),
  ({ left, right }) => ({ count: Math.min(left, right), n: Math.max(left, right) })
)

describe("the interval of a mean", () => {
  // Tables of Student's t.
  for (const [degrees, confidence, t] of [
    [4, 0.95, 2.776],
    [10, 0.95, 2.228],
    [19, 0.95, 2.093],
    [30, 0.99, 2.75],
    [1_000, 0.95, 1.962]
  ] as const) {
    it(`uses the published t of ${degrees} degrees of freedom`, () => close(twoSidedT(confidence, degrees), t, 0.001))
  }

  it("is the published one of a sample", () => {
    // Student, Biometrika 6 (1908), the additional hours of sleep by the second drug.
    const { high, low, mean } = meanInterval([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    close(mean, 2.33, 1e-9)
    close(low, 0.898, 0.001)
    close(high, 3.762, 0.001)
  })

  it("is the one of the share for zeros and ones", () =>
    assert.deepInclude(meanInterval([1, 1, 1, 0, 1]), { mean: 0.8, low: wilson(4, 5).low, high: wilson(4, 5).high }))

  // Away from zeros and ones, which have another interval.
  const values = Arbitrary.schema(Schema.Array(number(2, 100)).check(Schema.isMinLength(5), Schema.isMaxLength(50)))
  it.prop("contains the mean, moves with the values and grows with the confidence", [values], ([sample]) => {
    const { high, low, mean } = meanInterval(sample)
    assert.isTrue(low <= mean && mean <= high)
    const moved = meanInterval(sample.map((value) => 2 * value + 1_000))
    close(moved.mean, 2 * mean + 1_000, 1e-6)
    close(moved.high - moved.low, 2 * (high - low), 1e-6)
    const wide = meanInterval(sample, 0.99)
    assert.isTrue(wide.low <= low && high <= wide.high)
  })
})

describe("the Wilson interval", () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  for (const [count, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718]
  ] as const) {
    it(`of ${count} of ${n} is the published one`, () => {
      const interval = wilson(count, n)
      close(interval.low, low, 0.00005)
      close(interval.high, high, 0.00005)
    })
  }

  it.prop(
    "contains the rate, lies in [0, 1], and mirrors for the failures",
    [counts, number(0.5, 0.999)],
    ([{ count, n }, confidence]) => {
      const { high, low, rate } = wilson(count, n, confidence)
      assert.isTrue(0 <= low && low <= rate && rate <= high && high <= 1)
      const mirrored = wilson(n - count, n, confidence)
      close(mirrored.low, 1 - high, 1e-9)
      close(mirrored.high, 1 - low, 1e-9)
    }
  )

  it.prop("grows with the confidence, and shrinks with a sample of ten times the size", [counts], ([{ count, n }]) => {
    const [narrow, wide, larger] = [wilson(count, n, 0.8), wilson(count, n, 0.99), wilson(10 * count, 10 * n, 0.8)]
    assert.isAtMost(wide.low, narrow.low)
    assert.isAtLeast(wide.high, narrow.high)
    assert.isBelow(larger.high - larger.low, narrow.high - narrow.low)
  })

  it("is everything without a sample", () => assert.deepStrictEqual(wilson(0, 0), { rate: 0, low: 0, high: 1 }))
})

describe("the looks", () => {
  it("are at N, 2N and 4N runs, at most M", () => {
    assert.deepStrictEqual(looksOf(20, 80), [20, 40, 80])
    assert.deepStrictEqual(looksOf(20, 50), [20, 40, 50])
    assert.deepStrictEqual(looksOf(20, 20), [20])
    assert.deepStrictEqual(looksOf(20, 5), [20])
  })

  it("share one error of 5 %", () => {
    assert.strictEqual(levelOf(1), 0.95)
    close(levelOf(3), 0.98333, 0.00001)
  })

  it("need so many runs in agreement", () => {
    assert.deepStrictEqual(
      [runsNeeded(0.9, 1), runsNeeded(0.9, 3), runsNeeded(0.8, 1), runsNeeded(0.8, 3)],
      [35, 52, 16, 23]
    )
    close(wilson(20, 20).low, 0.84, 0.005)
  })

  it.prop("need the fewest runs that suffice", [number(0.01, 0.99), integer(1, 3)], ([demand, looks]) => {
    const needed = runsNeeded(demand, looks)
    assert.isAtLeast(wilson(needed, needed, levelOf(looks)).low, demand)
    if (needed > 1) assert.isBelow(wilson(needed - 1, needed - 1, levelOf(looks)).low, demand)
  })
})

describe("Fisher's exact test", () => {
  it("has the published p-value of the lady with the tea (Fisher 1935): 17 of 70", () =>
    close(fisherDrop({ count: 3, n: 4 }, { count: 1, n: 4 }), 17 / 70, 1e-12))

  // Criminal twins (Fisher 1934): 10 of 13 monozygotic and 2 of 17 dizygotic brothers, p = 0.00046.
  it("has the published p-value of the twins", () =>
    close(fisherDrop({ count: 10, n: 13 }, { count: 2, n: 17 }), 0.000465, 0.000001))

  it.prop(
    "is a probability that falls with each success less, and is complete at the end",
    [counts, counts],
    ([before, after]) => {
      const p = fisherDrop(before, after)
      assert.isTrue(p > 0 && p <= 1)
      const fewer = { n: after.n, count: after.count - 1 }
      const more = { n: before.n, count: before.count + 1 }
      if (after.count > 0 && before.count < before.n) assert.isAtMost(fisherDrop(more, fewer), p + 1e-9)
      close(fisherDrop({ n: before.n, count: 0 }, after), 1, 1e-9)
    }
  )
})

describe("Holm's adjustment", () => {
  it("has the values of the published procedure (Holm 1979)", () => {
    const adjusted = holm([0.01, 0.04, 0.03, 0.005])
    for (const [at, p] of [0.03, 0.06, 0.06, 0.02].entries()) close(adjusted[at] ?? 0, p, 1e-12)
  })

  it.prop(
    "keeps the order, and is between the p-value and that of Bonferroni",
    [Schema.Array(number(0, 1)).check(Schema.isNonEmpty())],
    ([pValues]) => {
      const adjusted = holm(pValues)
      for (const [at, p] of pValues.entries()) {
        const own = adjusted[at] ?? 0
        assert.isTrue(own >= p && own <= Math.min(1, p * pValues.length))
        for (const [other, q] of pValues.entries()) if (p < q) assert.isAtMost(own, adjusted[other] ?? 0)
      }
    }
  )
})

describe("the bootstrap of the 95th percentile", () => {
  const samples = Schema.Array(number(0, 1_000)).check(Schema.isNonEmpty(), Schema.isMaxLength(30))

  it("takes percentiles by the nearest rank (NIST handbook, 7.2.6.2)", () => {
    const values = Array.from({ length: 20 }, (_, at) => at + 1)
    assert.deepStrictEqual([percentile(values, 0.95), percentile(values, 0.5), percentile([], 0.5)], [19, 10, 0])
  })

  it.prop(
    "is the same in each call, contains its value, and lies in the range of the sample",
    [samples],
    ([values]) => {
      const estimate = p95Estimate(values)
      assert.deepStrictEqual(p95Estimate(values), estimate)
      assert.isTrue(estimate.low <= estimate.value && estimate.value <= estimate.high)
      assert.isTrue(estimate.low >= Math.min(...values) && estimate.high <= Math.max(...values))
    }
  )

  it.prop("finds a shift, and none between equal samples", [samples, integer(1_001, 5_000)], ([values, shift]) => {
    const same = p95Difference(values, values)
    assert.isTrue(same.low <= 0 && same.high >= 0 && same.value === 0)
    const shifted = p95Difference(
      values,
      values.map((value) => value + shift)
    )
    assert.isAbove(shifted.low, 0)
  })
})
