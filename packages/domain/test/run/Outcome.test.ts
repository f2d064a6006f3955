import { assert, describe, it } from "@effect/vitest"
import { inferOutcome, voteOf } from "@runplane/domain"

describe("Outcome", () => {
  const actions: ReadonlyArray<readonly [boolean | null, ReadonlyArray<string>]> = [
    [true, ["approve", "approved", "accept", "accepted", "selected", "completed", "decision.Approved"]],
    [
      false,
      [
        "reject",
        "rejected",
        "decline",
        "declined",
        "failed",
        "quorum.rejected",
        "macp.gate.deny",
        "x.denied",
        "x.blocked"
      ]
    ],
    [null, ["step_up", "resolved", "", "decision.approved.later", "multi_round.converged"]]
  ]
  it.each(actions)("infers %s from its actions", (outcome, words) => {
    for (const action of words) assert.strictEqual(inferOutcome(action), outcome, action)
  })

  it.each([
    ["Vote", "approve", "allow"],
    ["Vote", "YES", "allow"],
    ["Vote", " Reject ", "deny"],
    ["Vote", "no", "deny"],
    ["Vote", "ABSTAIN", undefined],
    ["Evaluation", "APPROVE", "allow"],
    ["Evaluation", "BLOCK", "deny"],
    ["Evaluation", "REVIEW", undefined],
    ["Accept", undefined, "allow"],
    ["Approve", undefined, "allow"],
    ["TaskAccept", undefined, "allow"],
    ["HandoffAccept", undefined, "allow"],
    ["Reject", undefined, "deny"],
    ["TaskReject", undefined, "deny"],
    ["HandoffDecline", undefined, "deny"],
    ["Abstain", undefined, undefined],
    ["Objection", undefined, undefined],
    ["Withdraw", undefined, undefined]
  ] as const)("reads the vote of a %s that states %s as %s", (messageType, stated, vote) => {
    assert.strictEqual(voteOf(messageType, stated), vote)
  })
})
