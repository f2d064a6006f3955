import { assert, describe, it } from "@effect/vitest"
import { outcomeWords } from "../../../src/view/decision/OutcomeWords.ts"

describe("an outcome for a reader", () => {
  it.each([
    ["decision.selected", true, "Approved"],
    ["decision.rejected", false, "Declined"],
    ["task.completed", true, "Done"],
    ["proposal.rejected", false, "Not agreed"],
    ["fail_over_now", true, "fail_over_now (positive)"],
    ["decision.selected", false, "decision.selected (negative)"],
    ["step_up", null, "step_up"]
  ])("of %s, %s, is %s", (action, positive, words) => {
    assert.strictEqual(outcomeWords({ action, positive }), words)
  })
})
