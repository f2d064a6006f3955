import { assert, describe, it } from "@effect/vitest"
import type { AlertTest } from "@runplane/api"
import { AlertPer, AlertWindow, MEASURE_KINDS, measureOf, measureTitle, ruleProblem } from "@runplane/domain"
import {
  firingText,
  fitting,
  idOf,
  measureOfKind,
  nameOf,
  ruleSentence,
  storedAmount,
  subjectsOf,
  trialText,
  typedAmount,
  typedUnit,
  windowsOf
} from "../../../src/view/alerts/RuleSentence.ts"

const MEASURES = MEASURE_KINDS.map((kind) => measureOfKind(kind, "quality"))
const levels = (...thresholds: ReadonlyArray<number>) => thresholds.map((at) => ({ at }))

describe("the sentence of a rule", () => {
  it.each([
    ["costUsd", "run", "run", [1], "a run costs $1.00 or more"],
    ["costUsd", "scenario", "month", [80, 100], "a scenario costs $80.00 / $100.00 or more in a month"],
    ["tokens", "model", "day", [5_000], "a model uses 5,000 tokens or more in a day"],
    ["silenceMs", "run", "run", [600_000], "a run is silent for 10 min or longer"],
    ["failureRate", "environment", "24h", [0.2], "an environment fails in 20 % of its runs or more within 24 hours"],
    [
      "agreementBelow",
      "all",
      "week",
      [0.8],
      "everything together has the same outcome in less than 80 % of its runs in a week"
    ],
    ["markBelow:quality", "scenario", "month", [0.5], "a scenario has a mean mark below 0.5 for quality in a month"]
  ] as const)("of %s per %s and %s", (measure, per, window, thresholds, sentence) => {
    assert.strictEqual(ruleSentence({ measure, per, window, levels: levels(...thresholds) }), sentence)
  })

  it("has no identifier of a measure", () => {
    for (const measure of MEASURES) {
      const said = `${ruleSentence({ measure, per: "run", window: "run", levels: levels(1) })} ${firingText(measure, 1, 1)}`
      assert.notMatch(said, /[a-z][A-Z]/, measure)
    }
    assert.strictEqual(firingText("costUsd", 1_008.75, 1_000), "cost $1,008.75, level $1,000.00")
    assert.strictEqual(measureTitle("markBelow:quality"), "mean mark quality")
  })

  it("of any measure, subject and window that the form allows is a rule", () => {
    for (const measure of MEASURES) {
      for (const per of AlertPer.literals) {
        for (const window of AlertWindow.literals) {
          for (const before of ["run", "all"] as const) {
            const counts = fitting({ measure, per, window }, before)
            const rule = { ...counts, name: "n", enabled: true, match: "", zone: "UTC" }
            const at = storedAmount(measure, typedUnit(measure).usual)
            const problem = ruleProblem({ ...rule, levels: [{ at, severity: "info", actions: [] }] })
            assert.isUndefined(problem, JSON.stringify(counts))
            assert.include(
              subjectsOf(measure).map(([one]) => one),
              counts.per
            )
            assert.include(
              windowsOf(counts.per).map(([one]) => one),
              counts.window
            )
          }
        }
      }
    }
  })

  it("types thresholds in the unit that people use, and stores them exactly", () => {
    const units = { costUsd: ["$", 12.5, "12.5"], silenceMs: ["minutes", 90_000, "1.5"], failureRate: ["%", 0.07, "7"] }
    for (const [measure, [unit, stored, typed]] of Object.entries(units)) {
      const { after, before } = typedUnit(measure)
      assert.strictEqual(before + after, unit)
      assert.strictEqual(typedAmount(measure, Number(stored)), typed)
      assert.strictEqual(storedAmount(measure, String(typed)), stored)
    }
    assert.strictEqual(measureOf("tokens").unit, "number")
  })
})

describe("a new rule", () => {
  it("is named by its sentence, with an id that is free", () => {
    assert.strictEqual(nameOf("a run costs $1.00 or more"), "A run costs $1.00 or more")
    assert.strictEqual(idOf("A run costs $1.00 or more", new Set()), "a-run-costs-1-00-or-more")
    assert.strictEqual(idOf("Über die Maße", new Set(["uber-die-ma-e"])), "uber-die-ma-e-2")
    assert.strictEqual(idOf("预算", new Set(["rule", "rule-2"])), "rule-3")
    assert.isAtMost(idOf("x".repeat(200), new Set()).length, 64)
  })

  const firing = { runId: "a" } as AlertTest["firings"][number]
  const trial = (firings: ReadonlyArray<typeof firing>, complete = true): AlertTest => ({
    ...{ since: "", until: "", events: 9, complete, firings }
  })
  it.each([
    [trial([]), "Would not have fired in the last 7 days."],
    [trial([], false), "Would not have fired in the first 9 events of the last 7 days; the rest is not read."],
    [trial([firing], false), "Would have fired at least once in the last 7 days, for 1 run."],
    [trial([firing]), "Would have fired once in the last 7 days, for 1 run."],
    [trial([firing, firing, { ...firing, runId: "b" }]), "Would have fired 3 times in the last 7 days, for 2 runs."],
    [trial([firing, firing], false), "Would have fired at least 2 times in the last 7 days, for 1 run."]
  ])("says how often it would have fired: %j", (answer, text) => {
    assert.strictEqual(trialText(answer, 7), text)
  })
})
