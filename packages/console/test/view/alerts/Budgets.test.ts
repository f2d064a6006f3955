import { assert, describe, it } from "@effect/vitest"
import type { AlertBudget } from "@runplane/api"
import { budgetBar } from "../../../src/view/alerts/Budgets.ts"
import { timeSetting } from "../../../src/view/format/TimeSetting.ts"

const budget: AlertBudget = {
  ...{ ruleId: "team", name: "Team", measure: "costUsd", per: "all", window: "day", key: "all", period: "2026-07-01" },
  ...{ startsAt: "2026-07-01T00:00:00.000Z", endsAt: "2026-07-02T00:00:00.000Z", spent: 40, reserved: 10 },
  levels: [
    { at: 80, severity: "warning" },
    { at: 100, severity: "critical" }
  ]
}
const at = (hours: number) => Date.UTC(2026, 6, 1) + hours * 3_600_000

describe("the bar of a budget", () => {
  it("has what is spent and reserved, its levels, and the part of the period that has passed", () => {
    const { elapsed, levels, reserved, spent, tone } = budgetBar(budget, at(6))
    assert.deepStrictEqual([spent, elapsed, tone], [0.4, 0.25, "warn"])
    assert.closeTo(reserved, 0.1, 1e-9)
    assert.deepStrictEqual(levels, [
      { share: 0.8, tone: "warn" },
      { share: 1, tone: "bad" }
    ])
  })

  it("also shows spending over the limit, in the tone of the highest level", () => {
    const over = budgetBar({ ...budget, spent: 200, reserved: 0 }, at(6))
    assert.deepStrictEqual([over.spent, over.tone], [1, "bad"])
    assert.deepStrictEqual(
      over.levels.map(({ share }) => share),
      [0.4, 0.5]
    )
    assert.match(over.forecast, /^exhausted; the period ends /)
    assert.strictEqual(budgetBar({ ...budget, spent: 85 }, at(20)).tone, "warn")
  })

  it.each([
    ["exhausted about 15:00 at the mean pace so far", 40, 6, {}],
    ["lasts until 2 Jul, 00:00 at the mean pace so far", 20, 6, {}],
    ["nothing was spent in the last day", 0, 6, {}],
    ["exhausted about 09:00 at the pace of the last hour", 40, 6, { pace: { of: "hour", perHour: 20 } }],
    ["lasts until 2 Jul, 00:00 at the pace of the last day", 40, 6, { pace: { of: "day", perHour: 1 } }],
    ["nothing was spent in the last day", 40, 6, { pace: { of: "hour", perHour: 0 } }],
    ["its pace is not known yet", 40, 6, { countedSince: new Date(at(6) - 20_000).toISOString() }]
  ] as const)("says %s, with $%d after %d hours", (words, spent, hours, over) => {
    timeSetting.set({ zone: "UTC", isAbsolute: false })
    assert.strictEqual(budgetBar({ ...budget, spent, ...over }, at(hours)).forecast, words)
  })

  it("says since when it counts, where that is not its whole period, and warns of a limit that is reached soon", () => {
    timeSetting.set({ zone: "UTC", isAbsolute: false })
    const month = { ...budget, startsAt: "2026-06-01T00:00:00.000Z", endsAt: "2026-08-01T00:00:00.000Z" }
    const young = budgetBar({ ...month, countedSince: new Date(at(-100)).toISOString() }, at(6))
    assert.strictEqual(young.since, "counted since 26 Jun, 20:00")
    assert.strictEqual(
      budgetBar({ ...month, countedSince: new Date(at(5)).toISOString() }, at(6)).since,
      "counted since 05:00"
    )
    assert.strictEqual(budgetBar({ ...month, countedSince: "2026-05-01T00:00:00.000Z" }, at(6)).since, "")
    assert.strictEqual(budgetBar({ ...budget, pace: { of: "hour", perHour: 20 } }, at(6)).tone, "warn")
    assert.strictEqual(budgetBar({ ...budget, pace: { of: "hour", perHour: 0 } }, at(6)).tone, "good")
  })
})
