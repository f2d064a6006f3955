import { assert, describe, it } from "@effect/vitest"
import { consequencesOf } from "@runplane/domain"
import { boundTo, HANDOFF, proposes, QUORUM, SEAT, says, starts, viewOf, votes } from "./seatSessions.ts"

const PARTICIPANTS = ["a", "b", SEAT]

describe("what an act would lead to", () => {
  it("counts the votes so far: one rejection is missing, or one approval", () => {
    const rules = boundTo({ voting: { algorithm: "majority", threshold: 0.6 } }, PARTICIPANTS)
    const view = viewOf([starts(), proposes(), votes("a", "APPROVE"), votes("b", "REJECT")])
    assert.deepStrictEqual(consequencesOf(rules, view, SEAT, "p1", ["approve", "reject", "abstain"]), [
      { act: "approve", positive: "met", negative: "impossible" },
      { act: "reject", positive: "impossible", negative: "met" },
      { act: "abstain", positive: "impossible", negative: "met" }
    ])
  })

  it("has the veto of an objection", () => {
    const rules = boundTo({ objection_handling: { critical_severity_vetoes: true } }, PARTICIPANTS)
    const [object] = consequencesOf(rules, viewOf([starts(), proposes()]), SEAT, "p1", ["object"])
    assert.deepStrictEqual(object, { act: "object", positive: "impossible", negative: "impossible" })
  })

  it("is that of the ballots of a quorum, and of the answers to a handoff", () => {
    const request = says("lead", "ApprovalRequest", { requestId: "p1", requiredApprovals: 1 }, { mode: QUORUM })
    const quorum = viewOf([starts(PARTICIPANTS, QUORUM), request], QUORUM)
    const [approve] = consequencesOf(boundTo(undefined, PARTICIPANTS, "quorum"), quorum, SEAT, "p1", ["approve"])
    assert.strictEqual(approve?.positive, "met")
    const offer = says("lead", "HandoffOffer", { handoffId: "p1", targetParticipant: SEAT }, { mode: HANDOFF })
    const handoff = viewOf([starts(["lead", SEAT], HANDOFF), offer], HANDOFF)
    const [decline] = consequencesOf(boundTo(undefined, ["lead", SEAT], "handoff"), handoff, SEAT, "p1", ["decline"])
    assert.strictEqual(decline?.negative, "met")
  })
})
