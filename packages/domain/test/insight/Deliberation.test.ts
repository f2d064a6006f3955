import { assert, describe, it } from "@effect/vitest"
import { actionLog, activePolicy, counting, decisionRecord, isAllowed, type JsonObject, why } from "@runplane/domain"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { commits, opened, proposes, recordOf, says, votes } from "../support/deliberations.ts"
import { derived, draft, fold, number } from "../support/events.ts"

const position = (run: ReturnType<typeof recordOf>) => {
  const { sessionRules } = activePolicy(run)
  assert(sessionRules !== undefined)
  return actionLog(sessionRules.mode, counting(run.acts), sessionRules.terms.policy.rules)
}

describe("the record of a decision", () => {
  it("holds who takes part, what was said by whom and where, and the commitment", () => {
    const run = recordOf(
      opened(),
      proposes("a"),
      says("b", "Evaluation", { recommendation: "approve", confidence: 0.8, reason: "tested" }),
      says("c", "Objection", { severity: "High" }),
      votes("a", "APPROVE"),
      votes("b", "abstain"),
      commits(true)
    )
    assert.strictEqual(run.mode, "decision")
    assert.strictEqual(run.initiator, "lead")
    assert.deepStrictEqual(run.participants, ["a", "b", "c"])
    assert.deepStrictEqual(
      run.acts.map(({ by, index, proposalId, severity, type, vote }) => [
        index,
        by,
        type,
        proposalId,
        vote ?? severity
      ]),
      [
        [3, "a", "Proposal", "p1", undefined],
        [4, "b", "Evaluation", "p1", undefined],
        [5, "c", "Objection", "p1", "high"],
        [6, "a", "Vote", "p1", "APPROVE"],
        [7, "b", "Vote", "p1", "ABSTAIN"]
      ]
    )
    assert.deepInclude(run.acts[1], { recommendation: "APPROVE", confidence: 0.8, reason: "tested" })
    assert.deepInclude(run.commitment, { by: "lead", positive: true, reason: "counted", index: 8 })
    assert.deepStrictEqual(run.notes, [])
    assert.deepInclude(position(run), {
      proposals: 1,
      votes: [
        { voter: "a", vote: "APPROVE" },
        { voter: "b", vote: "ABSTAIN" }
      ]
    })
  })

  it("keeps a vote that was changed, and counts the last one of each voter and proposal", () => {
    const run = recordOf(opened(), proposes("a"), proposes("b", "p2"), votes("c", "REJECT"), votes("c", "APPROVE"), [
      votes("c", "REJECT", "p2")
    ])
    assert.deepStrictEqual(
      run.acts.filter(({ type }) => type === "Vote").map(({ skipped, vote }) => [vote, skipped]),
      [
        ["REJECT", "changed later"],
        ["APPROVE", undefined],
        ["REJECT", undefined]
      ]
    )
  })

  it("says what it does not count: strangers, other modes, unknown proposals, words that are none", () => {
    const run = recordOf(
      opened(),
      proposes("a"),
      votes("mallory", "APPROVE"),
      votes("a", "APPROVE", "p9"),
      says("b", "Approve"),
      votes("c", "PERHAPS")
    )
    assert.deepStrictEqual(
      run.acts.map(({ skipped }) => skipped),
      [undefined, "stranger", "nothing known by this id", "of another mode", "unreadable"]
    )
    assert.deepStrictEqual(run.notes, [
      "not counted, as they do not take part: mallory",
      "1 acts are about something that is not on record",
      "1 acts belong to another mode"
    ])
  })

  it("counts every sender when no event declares the participants, and notes it", () => {
    const run = recordOf(
      draft("run.created", { modeName: "macp.mode.decision.v1" }),
      proposes("x"),
      votes("y", "REJECT")
    )
    assert.deepStrictEqual(run.participants, ["x", "y"])
    assert.deepStrictEqual(run.notes, ["no event declares the participants; every sender counts as one"])
    assert.match(activePolicy(run).fault ?? "", /no event names the policy/)
  })

  it("takes the participants from the message that opened the session when the binding names none", () => {
    const start = derived("message.received", "SessionStart", "lead", { participants: ["a", "b"] })
    const run = recordOf(draft("run.created", { modeName: "macp.mode.decision.v1" }), start, proposes("a"))
    assert.deepStrictEqual(run.participants, ["a", "b"])
    assert.strictEqual(run.initiator, "lead")
  })

  it("adds up what each participant spent up to the commitment", () => {
    const call = (sender: string, totalTokens: number, estimatedCostUsd: number) =>
      derived("llm.call.completed", "Signal", sender, { totalTokens, estimatedCostUsd })
    const run = recordOf(opened(), call("a", 100, 0.5), call("b", 10, 0.25), call("a", 50, 0.25), commits(true), [
      call("a", 1_000, 9)
    ])
    assert.deepStrictEqual(run.spending, [
      { participantId: "a", calls: 2, totalTokens: 150, costUsd: 0.75 },
      { participantId: "b", calls: 1, totalTokens: 10, costUsd: 0.25 }
    ])
  })

  it("counts what an agent states of a turn before the commitment, although its record comes after it", () => {
    const call = (usageSource: string) =>
      draft("llm.call.completed", {
        ...{ messageType: "Turn", sender: "a", usageSource },
        decodedPayload: { totalTokens: 100, estimatedCostUsd: 0.5 }
      })
    const run = recordOf(opened(), commits(true), [call("a2a"), call("")])
    assert.deepStrictEqual(run.spending, [{ participantId: "a", calls: 1, totalTokens: 100, costUsd: 0.5 }])
  })

  it("counts the last of several commitments, with all that was spent up to it", () => {
    const call = derived("llm.call.completed", "Signal", "a", { totalTokens: 100, estimatedCostUsd: 0.5 })
    const drafts = [...opened(), proposes("a"), call, commits(true), call, commits(false, "b"), call]
    const run = recordOf(drafts)
    const { current } = fold(drafts).decision
    assert.deepInclude(run.commitment, { action: "decision.rejected", by: "b", positive: false })
    assert.deepInclude(current, { action: "decision.rejected", resolvedBy: "b", outcomePositive: false })
    assert.deepStrictEqual([run.commitments, current?.commitments], [2, 2])
    assert.deepStrictEqual(run.spending, [{ participantId: "a", calls: 2, totalTokens: 200, costUsd: 1 }])
    const explained = why(run, activePolicy(run))
    assert.deepInclude(explained.outcome, { action: "decision.rejected", by: "b", commitments: 2 })
    assert.include(explained.notes, "2 commitments are on record; the last one counts")
  })

  it("says nothing of the number of commitments where there is one", () => {
    const drafts = [...opened(), proposes("a"), commits(true)]
    const run = recordOf(drafts)
    assert.notProperty(why(run, activePolicy(run)).outcome, "commitments")
    assert.notProperty(fold(drafts).decision.current, "commitments")
  })

  it.prop("is total over any events, and the same twice", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const events = number(drafts)
    const run = decisionRecord(events)
    assert.deepStrictEqual(decisionRecord(events), run)
    assert.strictEqual(run.at?.index, events.at(-1)?.index)
    activePolicy(run, () => ({ policyId: "policy.odd", mode: "*", schemaVersion: 7, rules: "{" }))
  })
})

describe("the record of the other modes", () => {
  it("follows a negotiation: counters, changed minds, withdrawals, refusals for good", () => {
    const talk = [
      opened({ mode: "proposal", participants: ["a", "b"] }),
      proposes("a"),
      says("b", "Accept"),
      says("b", "CounterProposal", { supersedes_proposal_id: "p1" }, "p2"),
      says("b", "Accept", {}, "p2"),
      says("a", "Accept", {}, "p2")
    ].flat()
    const agreed = position(recordOf(talk))
    assert(agreed.mode === "proposal")
    assert.deepStrictEqual([agreed.counters, agreed.acceptedBy("b"), agreed.isRejected], [1, "p2", false])
    const undone = position(
      recordOf(talk, says("a", "Reject", { terminal: true }, "p2"), says("b", "Withdraw", {}, "p2"))
    )
    assert(undone.mode === "proposal")
    assert.deepStrictEqual([...undone.live], [{ proposalId: "p1", proposer: "a" }])
    assert.deepStrictEqual([undone.acceptedBy("a"), undone.isRejected], [undefined, false])
  })

  it("follows a task from request to report", () => {
    const run = recordOf(
      opened({ mode: "task" }),
      says("lead", "TaskRequest", { requestedAssignee: "a" }, "t1"),
      says("a", "TaskAccept", {}, "t1"),
      says("b", "TaskComplete", { output: "AAAA" }, "t1"),
      says("a", "TaskComplete", { output: "AAAA" }, "t1")
    )
    assert.deepStrictEqual(position(run), {
      mode: "task",
      requestedAssignee: "a",
      assignee: "a",
      rejections: [],
      report: { outputBytes: 3 }
    })
  })

  it("counts the output of a task by its text where an earlier release recorded no bytes", () => {
    const members = { messageType: "TaskComplete", sender: "a", messageId: "t1" }
    const reported = (data: JsonObject) =>
      recordOf(opened({ mode: "task" }), draft("proposal.updated", { ...members, ...data }, "t1")).acts.map(
        ({ outputBytes }) => outputBytes
      )
    assert.deepStrictEqual(reported({ decodedPayload: { output: "AAAA" } }), [3])
    assert.deepStrictEqual(reported({ decodedPayload: { output: "" }, outputBytes: 9 }), [9])
    assert.deepStrictEqual(reported({ decodedPayload: {} }), [0])
  })

  it("counts an answer to a handoff from its target alone", () => {
    const offer = says("lead", "HandoffOffer", { target_participant: "a" }, "h1")
    const run = recordOf(opened({ mode: "handoff" }), offer, says("b", "HandoffAccept", {}, "h1"))
    assert.deepStrictEqual(position(run), { mode: "handoff", isAnswered: false, isAccepted: false })
    const answered = recordOf(opened({ mode: "handoff" }), offer, says("a", "HandoffDecline", {}, "h1"))
    assert.deepStrictEqual(position(answered), { mode: "handoff", isAnswered: true, isAccepted: false })
  })

  it("counts one ballot for each participant of a quorum", () => {
    const run = recordOf(
      opened({ mode: "quorum" }),
      says("lead", "ApprovalRequest", { required_approvals: 2 }, "q1"),
      says("a", "Approve", {}, "q1"),
      says("a", "Reject", {}, "q1"),
      says("b", "Abstain", {}, "q1")
    )
    assert.deepStrictEqual(position(run), { mode: "quorum", requiredApprovals: 2, ballots: 2, approvals: 0 })
  })
})

describe("what governs a run", () => {
  const rules = { voting: { algorithm: "unanimous" } }

  it("is the policy as it was recorded", () => {
    const { policySource, sessionRules } = activePolicy(recordOf(opened({ rules })))
    assert.strictEqual(policySource, "recorded")
    assert.strictEqual(sessionRules?.terms.policy.rules.voting.algorithm, "unanimous")
    const record = { mode: "decision", proposals: 1, evaluations: [], objections: [], votes: [] } as const
    assert(sessionRules !== undefined)
    assert.isFalse(isAllowed(sessionRules.terms, record, true))
  })

  it("is the registry's policy of the same id for runs without a recorded one", () => {
    const run = recordOf(opened(), draft("session.state.changed", { policyVersion: "policy.old" }))
    assert.match(activePolicy(run).fault ?? "", /policy.old were not recorded/)
    const text = { policyId: "policy.old", mode: "*", schemaVersion: 3, rules: JSON.stringify(rules) }
    const { policySource, sessionRules } = activePolicy(run, () => text)
    assert.deepStrictEqual([policySource, sessionRules?.terms.policy.policyId], ["registry", "policy.old"])
  })

  it("is nothing, with the reason, when the rules do not parse or are for another mode", () => {
    const run = recordOf(opened())
    const old = { ...run, policyVersion: "policy.old" }
    const of = (mode: string, text: string) =>
      activePolicy(old, () => ({ policyId: "policy.old", mode, schemaVersion: 1, rules: text })).fault ?? ""
    assert.match(of("*", "{"), /cannot be read/)
    assert.match(of("*", '{"voting": {"algorithm": "coin"}}'), /cannot be read/)
    assert.match(of("macp.mode.task.v1", "{}"), /is for macp.mode.task.v1, the run is of macp.mode.decision.v1/)
    assert.match(
      activePolicy({ ...run, mode: undefined, modeName: "ext.x" }).fault ?? "",
      /no rules are known for ext.x/
    )
  })

  it("follows the release that the run's runtime was said to have", () => {
    const releaseFor = (runtimeVersion: string) =>
      activePolicy(recordOf(opened({ runtimeVersion }))).sessionRules?.terms.release
    assert.deepStrictEqual(["0.6.0", "0.7.5", "0.13.1", "0.13.2", "v1.0", "nightly"].map(releaseFor), [
      "0.6.1",
      "0.6.1",
      "0.13.0",
      "0.13.2",
      "0.14.0",
      "0.13.0"
    ])
  })
})
