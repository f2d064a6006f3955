import { assert, describe, it } from "@effect/vitest"
import { type BudgetSpending, exhaustedAt, isBudget } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const HOUR_MS = 3_600_000
const day: BudgetSpending = { spent: 60, limit: 100, startsAt: 0, endsAt: 24 * HOUR_MS }

describe("the end of a budget", () => {
  it.each([
    ["at the pace so far", { spent: 60 }, 10, (10 + 40 / 6) * HOUR_MS],
    ["now, when the limit is reached", { spent: 100 }, 10, 10 * HOUR_MS],
    ["now, when the limit is exceeded", { spent: 120 }, 10, 10 * HOUR_MS],
    ["not in this period", { spent: 30 }, 10, undefined],
    ["unknown without spending", { spent: 0 }, 10, undefined],
    ["unknown in the first seconds", { spent: 60 }, 0.01, undefined]
  ] as const)("is %s", (_, over, hours, at) => {
    const found = exhaustedAt({ ...day, ...over }, hours * HOUR_MS)
    if (at === undefined) assert.isUndefined(found)
    else assert.closeTo(found ?? 0, at, 1)
  })

  const amounts = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })))
  it.prop(
    "is inside of the period, and earlier for more spending",
    [amounts, amounts, amounts],
    ([spent, more, at]) => {
      const now = (at / 1_000_000) * day.endsAt
      const limit = 1_500_000
      const first = exhaustedAt({ ...day, limit, spent }, now)
      const second = exhaustedAt({ ...day, limit, spent: spent + more }, now)
      if (first === undefined) return
      assert.isTrue(now <= first && first < day.endsAt)
      assert.isAtMost(second ?? Number.POSITIVE_INFINITY, first)
    }
  )
})

describe("budgets", () => {
  it.each([
    ["costUsd", "month", true],
    ["tokens", "day", true],
    ["guessedCostUsd", "week", true],
    ["costUsd", "24h", false],
    ["costUsd", "run", false],
    ["events", "month", false]
  ] as const)("of %s by %s: %s", (measure, window, expected) => {
    assert.strictEqual(isBudget({ measure, window }), expected)
  })
})
