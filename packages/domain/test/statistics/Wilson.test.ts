import { assert, describe, it } from "@effect/vitest"
import { wilsonInterval } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const whole = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

describe("the Wilson interval", () => {
  // Newcombe 1998, Two-sided confidence intervals for the single proportion, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718]
  ])("of %d in %d is that of the published table", (successes, trials, low, high) => {
    const interval = wilsonInterval(successes, trials)
    assert.approximately(interval?.low ?? Number.NaN, low, 5e-5)
    assert.approximately(interval?.high ?? Number.NaN, high, 5e-5)
  })

  it("has no value without trials", () => {
    assert.isUndefined(wilsonInterval(0, 0))
  })

  it.prop(
    "contains the share, mirrors the failures, and shrinks with more trials",
    [whole(1, 5_000), whole(0, 5_000)],
    ([trials, part]) => {
      const successes = part % (trials + 1)
      const { high, low } = wilsonInterval(successes, trials) ?? assert.fail("there are trials")
      assert.isAtLeast(low, 0)
      assert.isAtMost(high, 1)
      assert.isAtMost(low, successes / trials)
      assert.isAtLeast(high, successes / trials)
      const mirrored = wilsonInterval(trials - successes, trials)
      assert.approximately(mirrored?.low ?? Number.NaN, 1 - high, 1e-12)
      const larger = wilsonInterval(4 * successes, 4 * trials)
      assert.isBelow((larger?.high ?? 1) - (larger?.low ?? 0), high - low)
    }
  )
})
