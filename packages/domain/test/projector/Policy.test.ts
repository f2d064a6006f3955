import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@runplane/domain"
import { at, bound, derived, draft, end, fold, given, seen } from "../support/events.ts"

describe("policy", () => {
  const vote = (messageType: string, sender: string, payload: JsonObject = {}) =>
    derived("proposal.updated", messageType, sender, payload, "p1")
  const evaluation = (decision: string) =>
    derived("policy.commitment.evaluated", "PolicyCommitmentEvaluated", "rt", {
      commitmentId: "c1",
      decision,
      reasons: ["r"]
    })

  it("is known from the binding, and better from policy.resolved", () => {
    const resolved = draft("policy.resolved", {
      policyVersion: "v2",
      decodedPayload: {
        description: "D",
        expectedCommitments: [
          { id: "e1", title: "T", requiredRoles: ["voter"] },
          { commitmentId: "e2", description: "d", policyRef: "p" },
          { title: "no id" },
          7
        ]
      }
    })
    assert.strictEqual(given(bound).when().policy.policyVersion, "policy.default")
    const { policy } = given(bound, resolved).when(bound)
    assert.deepStrictEqual(policy, {
      policyVersion: "v2",
      policyDescription: "D",
      resolvedAt: at(2),
      commitmentEvaluations: [],
      expectedCommitments: [
        { id: "e1", commitmentId: "e1", title: "T", requiredRoles: ["voter"] },
        { id: "e2", commitmentId: "e2", description: "d", policyRef: "p" }
      ],
      quorumStatus: "pending"
    })
  })

  it("tallies votes per proposal against half of the participants", () => {
    const { policy } = given(seen("a"), seen("b"), seen("c")).when(
      vote("Vote", "a", { vote: "APPROVE" }),
      vote("Evaluation", "b", { recommendation: "BLOCK" }),
      vote("Vote", "c", { vote: "ABSTAIN" }),
      vote("Accept", "c"),
      vote("TaskAccept", "c"),
      vote("Approve", "c", { proposalId: "p2" })
    )
    assert.deepStrictEqual(policy.voteTally, [
      { commitmentId: "p1", allow: 2, deny: 1, threshold: 2, quorum: { required: 3, cast: 3 } },
      { commitmentId: "p2", allow: 1, deny: 0, threshold: 2, quorum: { required: 3, cast: 1 } }
    ])
    assert.strictEqual(policy.quorumStatus, "pending")
  })

  it("requires only the voters when there are some", () => {
    const { policy } = given(seen("a", "voter"), seen("b"), seen("c")).when(vote("Reject", "a"))
    assert.deepStrictEqual(policy.voteTally, [
      { commitmentId: "p1", allow: 0, deny: 1, threshold: 1, quorum: { required: 1, cast: 1 } }
    ])
  })

  it("counts no vote of a proposal.created", () => {
    const created = derived("proposal.created", "Proposal", "a", { vote: "APPROVE" })
    assert.notProperty(given().when(created).policy, "voteTally")
  })

  it("gives the tally the id of the commitment that names its proposal", () => {
    const events = [
      vote("Accept", "a"),
      derived("decision.finalized", "Commitment", "a", { proposalId: "p1", commitmentId: "c1" })
    ]
    assert.strictEqual(fold(events).policy.voteTally?.[0]?.commitmentId, "c1")
  })

  it("reaches the quorum with an evaluation that allows", () => {
    assert.strictEqual(given().when(evaluation("deny")).policy.quorumStatus, "pending")
    const { policy } = given(evaluation("deny")).when(evaluation("allow"))
    assert.strictEqual(policy.quorumStatus, "reached")
    assert.deepStrictEqual(policy.commitmentEvaluations, [
      { commitmentId: "c1", decision: "deny", reasons: ["r"], ts: at(1) },
      { commitmentId: "c1", decision: "allow", reasons: ["r"], ts: at(2) }
    ])
  })

  it("derives the quorum from a bare commitment", () => {
    const commitment = (action: string) => derived("decision.finalized", "Commitment", "a", { action })
    assert.strictEqual(given().when(commitment("approve")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("step_up")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("reject")).policy.quorumStatus, "failed")
    assert.strictEqual(given(evaluation("allow")).when(commitment("reject")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("reject")).policy.resolvedAt, at(1))
  })

  it("misses the quorum when the run fails or is cancelled without an evaluation that allows", () => {
    for (const type of ["run.failed", "run.cancelled"] as const) {
      assert.strictEqual(given().when(end(type)).policy.quorumStatus, "failed")
      assert.strictEqual(given(vote("Accept", "a")).when(end(type)).policy.quorumStatus, "failed")
      assert.strictEqual(given(evaluation("deny")).when(end(type)).policy.quorumStatus, "failed")
      assert.strictEqual(given(evaluation("allow")).when(end(type)).policy.quorumStatus, "reached")
    }
    assert.notProperty(given().when(end("run.completed")).policy, "quorumStatus")
  })

  it("does not fold policy.denied", () => {
    const { policy } = given().when(draft("policy.denied", { decodedPayload: { decision: "deny", reasons: ["r"] } }))
    assert.deepStrictEqual(policy, { policyVersion: "", commitmentEvaluations: [] })
  })
})
