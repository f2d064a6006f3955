import * as SchemaParser from "effect/SchemaParser"
import { describe, expect, it } from "vitest"
import { AlertRule, measured, minRunsOf, ruleProblem } from "../../src/index.ts"

const decode = (change: object) =>
  SchemaParser.decodeUnknownExit(AlertRule)({ ...budget, ...change }, { errors: "all" })

const budget: AlertRule = {
  id: "support-budget",
  name: "Budget of support",
  enabled: true,
  match: "",
  per: "scenario",
  window: "month",
  zone: "Europe/Berlin",
  measure: "costUsd",
  levels: [
    { at: 80, severity: "info", actions: [] },
    { at: 100, severity: "critical", actions: [{ type: "cancel", allowCancel: true }] }
  ]
}
const level = (at: number, actions: AlertRule["levels"][number]["actions"] = []) =>
  ({ at, severity: "info", actions }) as const

describe("an alert rule", () => {
  it("has every measure, and the marks by their names", () => {
    expect(decode({})._tag).toBe("Success")
    for (const measure of ["failureRate", "markBelow:quality"]) expect(decode({ measure })._tag).toBe("Success")
  })

  it.each([
    ["measure", { measure: "markBelow:" }],
    ["zone", { zone: "Europe/Atlantis" }],
    ["id", { id: "a b" }],
    ["levels", { levels: [] }],
    ["levels", { levels: Array.from({ length: 9 }, (_, at) => level(at)) }],
    [
      "levels",
      { levels: [{ ...level(1), actions: [{ type: "webhook", format: "generic", url: "ftp://example.org" }] }] }
    ],
    ["repeatEveryMs", { repeatEveryMs: 1 }]
  ])("is refused with the name of the field: %s", (field, change) => {
    const exit = decode(change)
    expect(exit._tag).toBe("Failure")
    expect(String(exit)).toContain(`"${field}"`)
  })

  it.each([
    ["levels.1.at", { levels: [level(2), level(2)] }],
    ["levels.0.actions.0.allowCancel", { levels: [level(1, [{ type: "cancel" }])] }],
    ["levels.0.actions.0.url", { levels: [level(1, [{ type: "webhook", format: "slack" }])] }],
    ["window", { per: "run" }],
    ["per", { per: "model", measure: "failedRuns" }],
    ["per and window", { measure: "silenceMs" }],
    ["resolveBelow", { resolveBelow: 81 }],
    ["resolveBelow", { measure: "markBelow:quality", resolveBelow: 80 }],
    ["admission", { admission: true, window: "24h" }]
  ] as const)("names the field that does not fit the others: %s", (field, change) => {
    expect(ruleProblem({ ...budget, ...change })).toMatch(new RegExp(`^${field}`))
  })

  it.each(["failureRate", "negativeRate", "disagreement", "agreementBelow"])(
    "has no level above 1 for the share %s, since it could not be reached",
    (measure) => {
      const of = (at: number) => ruleProblem({ ...budget, measure, levels: [{ at, severity: "warning", actions: [] }] })
      expect(of(50)).toBe(`levels.0.at must be a share of at most 1 for the measure ${measure}: 0.5 is 50 %`)
      expect(of(1)).toBeUndefined()
    }
  )

  it("needs five runs for a rate over several runs, unless it says otherwise", () => {
    const of = (measure: string, window: AlertRule["window"], minRuns?: number) =>
      minRunsOf({ measure, window, ...(minRuns !== undefined && { minRuns }) })
    expect([of("failureRate", "day"), of("failureRate", "day", 1), of("failureRate", "run")]).toEqual([5, 1, 1])
    expect([of("markBelow:quality", "day"), of("disagreement", "day"), of("agreementBelow", "24h")]).toEqual([1, 1, 5])
    const [one, five] = [1, 5].map((n) =>
      measured({ ...budget, measure: "failureRate", window: "day" }, [{ value: n, n }])
    )
    expect([one, five]).toEqual([undefined, 1])
  })

  it("has no problem when its fields fit", () => {
    expect(ruleProblem(budget)).toBeUndefined()
    expect(ruleProblem({ ...budget, admission: true, resolveBelow: 70 })).toBeUndefined()
  })
})
