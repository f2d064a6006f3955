import { assert, describe, it } from "@effect/vitest"
import { committedWords } from "@runplane/domain"

describe("what a commitment commits, in words", () => {
  it.each([
    ["decision.selected", true, "an approval"],
    ["decision.rejected", false, "a decline"],
    ["task.completed", true, "the task as done"],
    ["handoff.declined", false, "the handoff as declined"],
    ["proposal.rejected", false, "the negotiation as failed"],
    // A name of the participants' own, a contradiction, and nothing.
    ["fail_over_now", true, undefined],
    ["decision.selected", false, undefined],
    ["decision.selected", null, undefined],
    [undefined, true, undefined]
  ])("of %s, %s, is %s", (action, positive, words) => {
    assert.strictEqual(committedWords(action, positive), words)
  })
})
