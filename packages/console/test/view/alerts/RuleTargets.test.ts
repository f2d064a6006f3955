import { describe, expect, it } from "@effect/vitest"
import type { AlertRuleState } from "@runplane/api"
import type { AlertAction } from "@runplane/domain"
import { actionText, changedRule, withTarget } from "../../../src/view/alerts/RuleTargets.ts"

const slack: AlertAction = { type: "webhook", format: "slack", subscription: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10" }
const pager: AlertAction = {
  ...{ type: "webhook", format: "pagerduty", subscription: "0297c0de-6f0a-7c53-9a56-0d9c6f5f7a10" },
  routingKey: "****cdef"
}
const tag: AlertAction = { type: "tag", tag: "over-budget" }
const mail: AlertAction = { type: "webhook", format: "mail", url: "https://mail.example.org/" }

const rule: AlertRuleState = {
  ...{ id: "team", name: "Team", enabled: false, match: "", per: "all", window: "month", zone: "UTC" },
  ...{ measure: "costUsd", minRuns: 3, resolveBelow: 70, repeatEveryMs: 60_000, backfill: true, backfilling: true },
  ...{ admission: true, expectedCostUsd: 0.2, error: "none", createdAt: "", updatedAt: "" },
  levels: [
    { at: 80, severity: "warning", actions: [slack] },
    { at: 100, severity: "critical", actions: [pager, tag] }
  ]
}
const levels = rule.levels.map((level) => ({ ...level, at: String(level.at) }))
const shown = { name: "Team", match: "", per: "all", window: "month", zone: "UTC", measure: "costUsd" } as const

describe("the form of a rule", () => {
  it("keeps the targets of each level, and what it does not show", () => {
    const { createdAt: _c, updatedAt: _u, id: _i, error: _e, backfilling: _b, ...kept } = rule
    expect(changedRule(rule, shown, levels, { admission: true, expectedCostUsd: 0.2 })).toEqual(kept)
    const { admission: _a, expectedCostUsd: _x, ...open } = kept
    expect(changedRule(rule, shown, levels, {})).toEqual(open)
  })

  it("stores thresholds as they are typed: shares in percent, times in minutes", () => {
    const typed = (measure: string, at: string) =>
      changedRule(undefined, { ...shown, measure }, [{ at, severity: "info", actions: [] }], {}).levels[0]?.at
    expect(typed("failureRate", "20")).toBe(0.2)
    expect(typed("silenceMs", "1.5")).toBe(90_000)
    expect(typed("costUsd", "0.1")).toBe(0.1)
  })

  it("adds a target to every level, once, beside the others", () => {
    const added = withTarget(withTarget(levels, mail), mail)
    expect(added.map(({ actions }) => actions)).toEqual([
      [slack, mail],
      [pager, tag, mail]
    ])
    expect(withTarget(levels, undefined)).toBe(levels)
  })

  it.each([
    [slack, "slack to 0197c0de"],
    [pager, "pagerduty ****cdef to 0297c0de"],
    [mail, "mail to https://mail.example.org/"],
    [tag, "tag over-budget"],
    [{ type: "mark", name: "budget", value: false }, "mark budget: false"],
    [{ type: "cancel", allowCancel: true }, "cancel the run"]
  ] as ReadonlyArray<readonly [AlertAction, string]>)("shows %j", (action, text) => {
    expect(actionText(action)).toBe(text)
  })
})
