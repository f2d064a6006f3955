import { assert, describe, it } from "@effect/vitest"
import { type BudgetSpending, compareBudgets, exhaustedAt, isBudget, type Pace, paceOf } from "@runplane/domain"
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

const MINUTE_MS = 60_000
const NOON = Date.UTC(2026, 10, 29, 12)
const partsAt = (...minutesAgo: ReadonlyArray<number>) =>
  minutesAgo.map((ago) => ({ startsAt: NOON - ago * MINUTE_MS, value: 10 }))

describe("the pace of a budget", () => {
  it.each([
    ["of the hour, when it is faster", partsAt(5, 30, 600), 0, { of: "hour", perHour: 20 }],
    ["of the day, when the last hour was quiet", partsAt(600, 700), 0, { of: "day", perHour: 20 / 24 }],
    ["of the counted time alone", partsAt(5, 10), 15, { of: "hour", perHour: 80 }],
    ["of nothing", [], 0, { of: "hour", perHour: 0 }],
    ["unknown in the first minute", partsAt(0), 0.5, undefined]
  ] as const)("is that %s", (_, parts, countedMinutes, expected) => {
    const since = countedMinutes === 0 ? 0 : NOON - countedMinutes * MINUTE_MS
    const found = paceOf(parts, since, NOON)
    if (expected === undefined) return assert.isUndefined(found)
    assert.strictEqual(found?.of, expected.of)
    assert.closeTo(found?.perHour ?? 0, expected.perHour, 1e-9)
  })

  it("exhausts $1,000 within minutes when $806 were spent in a quarter of an hour of a new budget", () => {
    const since = NOON - 15 * MINUTE_MS
    const pace = paceOf([{ startsAt: NOON - 10 * MINUTE_MS, value: 806 }], since, NOON)
    const month = { spent: 806, limit: 1_000, startsAt: Date.UTC(2026, 10, 1), endsAt: Date.UTC(2026, 11, 1) }
    const at = exhaustedAt({ ...month, countedSince: since, pace }, NOON)
    assert.closeTo(((at ?? 0) - NOON) / MINUTE_MS, (194 / 806) * 15, 1e-6)
    // Without a pace the counted part of the period has the same mean.
    assert.closeTo(exhaustedAt({ ...month, countedSince: since }, NOON) ?? 0, at ?? 0, 1)
    const quiet: Pace = { of: "day", perHour: 0 }
    assert.isUndefined(exhaustedAt({ ...month, pace: quiet }, NOON))
  })

  it("puts the budget first that is exhausted soonest, then the one with the greater share", () => {
    const over = { ...day, spent: 120 }
    const full = { ...day, spent: 100 }
    const fast = { ...day, spent: 10, pace: { of: "hour", perHour: 60 } as const }
    const slow = { ...day, spent: 50, pace: { of: "day", perHour: 1 } as const }
    const idle = { ...day, spent: 20, pace: { of: "day", perHour: 0 } as const }
    const sorted = [idle, slow, fast, full, over].toSorted((one, other) => compareBudgets(one, other, 10 * HOUR_MS))
    assert.deepStrictEqual(sorted, [over, full, fast, slow, idle])
  })
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
