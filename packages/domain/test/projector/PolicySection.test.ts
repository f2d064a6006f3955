import { assert, describe, it } from "@effect/vitest"
import { type JsonObject, MAX_POLICY_DENIALS } from "@runplane/domain"
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
      {
        ...{ commitmentId: "p1", allow: 2, deny: 1, threshold: 2, quorum: { required: 3, cast: 3 } },
        ...{ voters: { allow: 2, deny: 1, required: 3 } }
      },
      {
        ...{ commitmentId: "p2", allow: 1, deny: 0, threshold: 2, quorum: { required: 3, cast: 1 } },
        ...{ voters: { allow: 1, deny: 0, required: 3 } }
      }
    ])
    assert.deepStrictEqual(policy.lastWords, ["ada", "--a"])
    assert.strictEqual(policy.quorumStatus, "pending")
  })

  it("requires only the voters when there are some", () => {
    const { policy } = given(seen("a", "voter"), seen("b"), seen("c")).when(vote("Reject", "a"))
    assert.deepStrictEqual(policy.voteTally, [
      {
        ...{ commitmentId: "p1", allow: 0, deny: 1, threshold: 1, quorum: { required: 1, cast: 1 } },
        ...{ voters: { allow: 0, deny: 1, required: 1 } }
      }
    ])
  })

  it("counts each participant once among the voters, by the last vote", () => {
    const voters = ["a", "b", "c", "d"]
    const { policy } = given(...voters.map((id) => seen(id))).when(
      ...["a", "b", "c"].map((id) => vote("Evaluation", id, { recommendation: "APPROVE" })),
      ...voters.map((id) => vote("Vote", id, { vote: "APPROVE" }))
    )
    // What rule 5 counts are messages: seven of four.
    assert.deepInclude(policy.voteTally?.[0], { allow: 7, quorum: { required: 4, cast: 7 } })
    assert.deepInclude(policy.voteTally?.[0], { voters: { allow: 4, deny: 0, required: 4 } })
    assert.deepStrictEqual(policy.lastWords, ["aaaa"])
  })

  it("lets a participant change its vote, and cancel it by an abstention", () => {
    const said = [
      vote("Vote", "a", { vote: "APPROVE" }),
      vote("Vote", "b", { vote: "APPROVE" }),
      vote("Vote", "a", { vote: "REJECT" }),
      // An opinion without a yes or no takes nothing back.
      vote("Evaluation", "a", { recommendation: "REVIEW" })
    ]
    const changed = given(seen("a"), seen("b")).when(...said).policy
    assert.deepInclude(changed.voteTally?.[0], { allow: 2, deny: 1, voters: { allow: 1, deny: 1, required: 2 } })
    assert.deepStrictEqual(changed.lastWords, ["da"])
    const taken = given(seen("a"), seen("b")).when(...said, vote("Vote", "b", { vote: "ABSTAIN" })).policy
    assert.deepInclude(taken.voteTally?.[0], { allow: 2, deny: 1, voters: { allow: 0, deny: 1, required: 2 } })
    assert.deepStrictEqual(taken.lastWords, ["d-"])
  })

  it("does not say who voted when the participants change their order, or are too many to track", () => {
    const { policy } = given(seen("b"), vote("Accept", "b")).when(bound)
    assert.notProperty(policy.voteTally?.[0], "voters")
    assert.deepInclude(policy.voteTally?.[0], { allow: 1, deny: 0 })
    assert.deepStrictEqual(policy.lastWords, [null])
    const crowd = Array.from({ length: 2_000 }, (_, position) => seen(`p${position}`))
    const proposals = Array.from({ length: 70 }, (_, position) =>
      derived("proposal.updated", "Accept", "p1999", {}, `proposal-${position}`)
    )
    const { lastWords, voteTally = [] } = fold([...crowd, ...proposals]).policy
    assert.strictEqual(voteTally.length, 70)
    assert.strictEqual(voteTally.filter(({ voters }) => voters !== undefined).length, 65)
    assert.strictEqual(lastWords?.filter((words) => words !== null).length, 65)
    assert.isAtMost(lastWords?.join("").length ?? 0, 128 * 1024)
    assert.isTrue(voteTally.every(({ allow }) => allow === 1))
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

  it("has the approvals that a quorum request demands beside half of the voters", () => {
    const request = (payload: JsonObject) =>
      derived("proposal.created", "ApprovalRequest", "a", { request_id: "p1", action: "ship", ...payload })
    const { policy } = given(request({ required_approvals: 3 })).when(vote("Approve", "b"))
    assert.strictEqual(policy.requiredApprovals, 3)
    assert.deepInclude(policy.voteTally?.[0], { allow: 1, threshold: 1, requiredApprovals: 3 })
    assert.notProperty(given(request({})).when(vote("Approve", "b")).policy, "requiredApprovals")
  })

  it("derives the quorum from a bare commitment", () => {
    const commitment = (action: string) => derived("decision.finalized", "Commitment", "a", { action })
    assert.strictEqual(given().when(commitment("approve")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("step_up")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("reject")).policy.quorumStatus, "failed")
    assert.strictEqual(given(evaluation("allow")).when(commitment("reject")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("reject")).policy.resolvedAt, at(1))
    // The votes decide when the outcome is not known.
    assert.strictEqual(given(vote("Reject", "a")).when(commitment("step_up")).policy.quorumStatus, "failed")
    assert.strictEqual(given(vote("Approve", "a")).when(commitment("step_up")).policy.quorumStatus, "reached")
    const split = given(vote("Approve", "a"), vote("Reject", "b"))
    assert.strictEqual(split.when(commitment("step_up")).policy.quorumStatus, "reached")
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

  describe("of denials", () => {
    const denial = (rest: object = {}) =>
      draft("policy.denied", { decodedPayload: { decision: "deny", reasons: ["r", "s"] }, ...rest })

    it("lists what the runtime says, with codes where it has them", () => {
      const denials = [{ code: "veto", message: "blocked", participants: ["b"] }]
      const { policy } = given(denial()).when(denial({ sender: "a", messageId: "m1", denials, denialsOmitted: 2 }))
      const ts = (at: number) => ({ ts: policy.denials?.[at]?.ts ?? "" })
      assert.deepStrictEqual(policy.denials, [
        { message: "r; s", denials: [], ...ts(0) },
        { participantId: "a", messageId: "m1", message: "r; s", denials, denialsOmitted: 2, ...ts(1) }
      ])
      assert.notProperty(policy, "quorumStatus")
    })

    it("keeps the last ones", () => {
      const { policy } = given().when(
        ...Array.from({ length: MAX_POLICY_DENIALS + 3 }, (_, at) => denial({ messageId: `m${at}` }))
      )
      assert.lengthOf(policy.denials ?? [], MAX_POLICY_DENIALS)
      assert.strictEqual(policy.denials?.[0]?.messageId, "m3")
    })
  })
})
