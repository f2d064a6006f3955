import { assert, describe, it } from "@effect/vitest"
import { denyCommitment, isReadyToCommit, mayCommit } from "../../src/policies/Evaluation.ts"
import type { Release } from "../../src/policies/Release.ts"
import type { QuorumRecord, SessionRecord, SessionTerms } from "../../src/policies/SessionRecord.ts"
import { record, terms } from "./Sessions.ts"

const offers = (rest: Partial<Extract<SessionRecord, { mode: "proposal" }>> = {}): SessionRecord => ({
  mode: "proposal",
  live: [{ proposalId: "p1", proposer: "b" }],
  counters: 0,
  acceptedBy: () => undefined,
  isRejected: false,
  ...rest
})
const acceptedBy = (names: string) => offers({ acceptedBy: (who) => (names.includes(who) ? "p1" : undefined) })
const task = (rest: Partial<Extract<SessionRecord, { mode: "task" }>> = {}): SessionRecord => ({
  mode: "task",
  requestedAssignee: "b",
  assignee: undefined,
  rejections: [],
  report: undefined,
  ...rest
})
const handoff = (isAccepted: boolean): SessionRecord => ({ mode: "handoff", isAnswered: true, isAccepted })
const ballots = (approvals: number, rejects: number): QuorumRecord => ({
  mode: "quorum",
  requiredApprovals: 2,
  ballots: approvals + rejects,
  approvals
})
const accepts = (criterion: string) => ({ acceptance: { criterion } })

/** What becomes of a Commitment: too early, denied, or accepted. */
const verdict = (given: SessionTerms, session: SessionRecord, positive: boolean) => {
  if (!isReadyToCommit(given, session, positive)) return "early"
  return denyCommitment(given, session, positive).length > 0 ? "denied" : "accepted"
}

describe("a commitment", () => {
  const verdicts: ReadonlyArray<
    readonly [string, object, SessionRecord, positive: string, negative: string, Release?]
  > = [
    ["waits for a proposal", {}, { ...record("A"), proposals: 0 }, "early", "early"],
    ["waits for every party", {}, acceptedBy("abc"), "early", "early"],
    ["follows from all parties", {}, acceptedBy("abcd"), "accepted", "accepted"],
    ["does not wait for the proposer", accepts("counterparty"), acceptedBy("acd"), "accepted", "accepted"],
    ["follows from the initiator's word", accepts("initiator"), acceptedBy("a"), "accepted", "accepted"],
    ["follows from a final rejection", {}, offers({ isRejected: true }), "accepted", "accepted"],
    ["waits for a task to end", {}, task(), "early", "early"],
    ["follows from a report", {}, task({ report: { outputBytes: 0 } }), "accepted", "accepted"],
    [
      "requires output",
      { completion: { require_output: true } },
      task({ report: { outputBytes: 0 } }),
      "denied",
      "accepted"
    ],
    [
      "declines a task without a remaining assignee",
      {},
      task({ rejections: [{ by: "b", whileAssigned: false }] }),
      "early",
      "accepted"
    ],
    ["follows from any answer to a handoff", {}, handoff(false), "accepted", "accepted"],
    ["needs an acceptance from 0.14.0", {}, handoff(false), "early", "accepted", "0.14.0"],
    ["waits for an approval request", {}, { ...ballots(0, 0), requiredApprovals: undefined }, "early", "early"],
    ["waits while the threshold is open", {}, ballots(1, 2), "early", "early"],
    ["follows when the threshold is reached", {}, ballots(2, 0), "accepted", "accepted"],
    ["follows when it is out of reach", {}, ballots(0, 3), "accepted", "accepted"],
    ["requires the policy's approvals", { threshold: { value: 3 } }, ballots(2, 2), "denied", "accepted"],
    ["counts in percent", { threshold: { type: "percentage", value: 60 } }, ballots(3, 0), "accepted", "accepted"]
  ]
  for (const [name, rules, given, positive, negative, release] of verdicts) {
    it(name, () => {
      const bound = terms(rules, 1, release)
      assert.deepStrictEqual([verdict(bound, given, true), verdict(bound, given, false)], [positive, negative])
    })
  }

  const authorities: ReadonlyArray<readonly [rules: object, allowed: string]> = [
    [{}, "a"],
    [{ authority: "any_participant" }, "abcd"],
    [{ authority: "designated_role", designated_roles: ["b", "x"] }, "bx"]
  ]
  for (const [commitment, allowed] of authorities) {
    it(`may come from ${[...allowed].join(", ")} under ${JSON.stringify(commitment)}`, () => {
      const may = [..."abcdx"].filter((sender) => mayCommit(sender, terms({ commitment })))
      assert.strictEqual(may.join(""), allowed)
    })
  }
})
