import { assert, describe, it } from "@effect/vitest"
import type { EventDraft, JsonObject } from "@runplane/domain"
import { at, bound, derived, draft, fold, given, received } from "../support/events.ts"

describe("decision", () => {
  const proposal = (payload: JsonObject = {}, sender = "lead") =>
    derived("proposal.created", "Proposal", sender, { proposalId: "p1", option: "ship", ...payload }, "p1")
  const contribution = (messageType: string, sender: string, payload: JsonObject = {}) =>
    derived("proposal.updated", messageType, sender, { proposalId: "p1", ...payload }, "p1")
  const commitment = (payload: JsonObject) => derived("decision.finalized", "Commitment", "lead", payload, "c1")

  it("is absent until something is proposed", () => {
    assert.deepStrictEqual(given().when(received("Proposal", "a")).decision, {})
  })

  it("opens with the proposal and has no outcome yet", () => {
    const { current } = given(bound).when(proposal({ rationale: "because", confidence: 0.4 })).decision
    assert.deepStrictEqual(current, {
      action: "p1",
      confidence: 0.4,
      finalized: false,
      proposalId: "p1",
      prompt: "because",
      reasons: ["because"],
      proposals: [
        {
          participantId: "lead",
          action: "ship",
          confidence: 0.4,
          reasons: ["because"],
          ts: at(2),
          messageType: "Proposal"
        }
      ]
    })
  })

  it("takes the prompt from the initiator's first Proposal only", () => {
    const promptOf = (...events: ReadonlyArray<EventDraft>) => fold(events).decision.current?.prompt
    assert.strictEqual(promptOf(bound, proposal({ prompt: "Q", rationale: "R" })), "Q")
    assert.isUndefined(promptOf(bound, proposal({ prompt: "Q" }, "other")))
    assert.isUndefined(promptOf(proposal({ prompt: "Q" })))
    assert.strictEqual(
      promptOf(bound, proposal({ prompt: "Q" }, "other"), proposal({ prompt: "1" }), proposal({ prompt: "2" })),
      "1"
    )
    assert.strictEqual(promptOf(received("SessionStart", "lead"), proposal({ prompt: "Q" })), "Q")
  })

  it("is as confident as the share of allowing contributions", () => {
    const { current } = given(proposal()).when(
      contribution("Vote", "a", { vote: "APPROVE", reason: "good" }),
      contribution("Vote", "b", { vote: "REJECT" }),
      contribution("Vote", "c", { vote: "ABSTAIN" }),
      contribution("Evaluation", "d", { recommendation: "approve", confidence: 0.7, summary: "s", reasons: ["x", ""] })
    ).decision
    assert.strictEqual(current?.confidence, 2 / 3)
    assert.deepStrictEqual(current?.reasons, ["s"])
    assert.deepStrictEqual(
      current?.proposals.slice(1).map(({ action, confidence, reasons, vote }) => [action, confidence, reasons, vote]),
      [
        ["APPROVE", 1, ["good"], "allow"],
        ["REJECT", 1, [], "deny"],
        ["ABSTAIN", 1, [], undefined],
        ["approve", 0.7, ["s", "x"], "allow"]
      ]
    )
  })

  it("names the event type when a contribution gives no reason, and the message type when it names no action", () => {
    const { current } = given().when(contribution("Withdraw", "a")).decision
    assert.deepStrictEqual(current?.reasons, ["proposal.updated"])
    assert.strictEqual(current?.proposals[0]?.action, "Withdraw")
  })

  it("marks an acceptance that the runtime gave in the name of a participant", () => {
    const implicit = (payload: JsonObject, messageId = "m") =>
      fold([
        draft("proposal.updated", { messageType: "HandoffAccept", sender: "b", messageId, decodedPayload: payload })
      ]).decision.current?.proposals[0]?.implicit
    assert.strictEqual(implicit({ implicit: true }), true)
    assert.strictEqual(implicit({}, "implicit-accept:h1"), true)
    assert.isUndefined(implicit({ implicit: false }))
  })

  it("is finalized by the commitment with action, outcome, time and sender", () => {
    const hash = `sha256:${"a".repeat(64)}`
    const { current } = given(bound, proposal({ prompt: "Q" }), contribution("Vote", "a", { vote: "APPROVE" })).when(
      commitment({
        commitmentId: "c1",
        proposalId: "p1",
        action: "decision.selected",
        reason: "majority",
        supersedes: { sessionId: "s0", commitmentHash: hash }
      })
    ).decision
    assert.deepStrictEqual(
      { ...current, proposals: current?.proposals.length },
      {
        action: "decision.selected",
        confidence: 1,
        finalized: true,
        proposalId: "p1",
        outcomePositive: true,
        prompt: "Q",
        resolvedAt: at(4),
        resolvedBy: "lead",
        reasons: ["majority"],
        proposals: 2,
        supersedes: { sessionId: "s0", commitmentHash: hash, canonical: true }
      }
    )
  })

  it.each([
    [{ action: "approve" }, true],
    [{ action: "decision.rejected" }, false],
    [{ action: "step_up" }, null],
    [{ action: "step_up", outcome_positive: true }, true],
    [{ action: "approve", outcomePositive: false }, false],
    [{}, null]
  ])("has with the commitment %j the outcome %s", (payload, outcome) => {
    const state = given().when(commitment(payload))
    assert.strictEqual(state.decision.current?.outcomePositive, outcome)
    assert.strictEqual(state.policy.outcomePositive, outcome)
  })

  it("falls back to the commitment's id, then to the proposal before it, and to default texts", () => {
    const current = (payload: JsonObject) => given(proposal()).when(commitment(payload)).decision.current
    assert.strictEqual(current({ commitmentId: "c1" })?.proposalId, "c1")
    assert.strictEqual(current({})?.proposalId, "p1")
    assert.strictEqual(current({})?.action, "resolved")
    assert.strictEqual(current({})?.reasons.length, 1)
    const supersedes = current({ supersedes: { session_id: "s", commitment_hash: "md5:1" } })?.supersedes
    assert.deepStrictEqual(supersedes, { sessionId: "s", commitmentHash: "md5:1", canonical: false })
  })

  it("keeps the decision final when a vote arrives late", () => {
    const before = given(proposal()).when(commitment({ action: "approve" })).decision.current
    const late = contribution("Vote", "z", { vote: "REJECT" })
    const after = given(proposal(), commitment({ action: "approve" })).when(late).decision.current
    assert.deepStrictEqual({ ...after, proposals: [] }, { ...before, proposals: [] })
    assert.strictEqual(after?.proposals.length, 2)
  })
})
