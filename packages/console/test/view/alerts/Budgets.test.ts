import { assert, describe, it } from "@effect/vitest"
import type { AlertBudget } from "@runplane/api"
import { budgetBar } from "../../../src/view/alerts/Budgets.ts"

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
    assert.deepStrictEqual([spent, elapsed, tone], [0.4, 0.25, "good"])
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
    ["exhausted about", 40, 6],
    ["lasts until", 20, 6],
    ["lasts until", 0, 6]
  ] as const)("%s, with $%d after %d hours", (words, spent, hours) => {
    const { forecast } = budgetBar({ ...budget, spent }, at(hours))
    assert.isTrue(forecast.startsWith(words), forecast)
    assert.isTrue(forecast.endsWith("at this pace"), forecast)
  })
})
