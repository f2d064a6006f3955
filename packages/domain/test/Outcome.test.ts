import { assert, describe, it } from "@effect/vitest"
import { inferOutcome, voteOf } from "@runplane/domain"

describe("Outcome", () => {
  const actions: ReadonlyArray<readonly [boolean | null, ReadonlyArray<string>]> = [
    [true, ["approve", "approved", "accept", "accepted", "selected", "completed", "decision.Approved"]],
    [false, ["reject", "rejected", "decline", "declined", "failed", "quorum.rejected"]],
    [null, ["step_up", "resolved", "", "decision.approved.later", "multi_round.converged"]]
  ]
  it.each(actions)("infers %s from its actions", (outcome, words) => {
    for (const action of words) assert.strictEqual(inferOutcome(action), outcome, action)
  })

  it.each([
    ["Vote", { vote: "approve" }, "allow"],
    ["Vote", { vote: "YES" }, "allow"],
    ["Vote", { vote: " Reject " }, "deny"],
    ["Vote", { vote: "no" }, "deny"],
    ["Vote", { vote: "ABSTAIN" }, undefined],
    ["Evaluation", { recommendation: "APPROVE" }, "allow"],
    ["Evaluation", { recommendation: "BLOCK" }, "deny"],
    ["Evaluation", { recommendation: "REVIEW" }, undefined],
    ["Accept", {}, "allow"],
    ["Approve", {}, "allow"],
    ["TaskAccept", {}, "allow"],
    ["HandoffAccept", {}, "allow"],
    ["Reject", {}, "deny"],
    ["TaskReject", {}, "deny"],
    ["HandoffDecline", {}, "deny"],
    ["Abstain", {}, undefined],
    ["Objection", { severity: "critical" }, undefined],
    ["Withdraw", {}, undefined]
  ] as const)("reads the vote of a %s with %j as %s", (messageType, payload, vote) => {
    assert.strictEqual(voteOf(messageType, payload), vote)
  })
})
