import { assert, describe, it } from "@effect/vitest"
import * as Domain from "@runplane/domain"
import { reasonedCard } from "@runplane/domain"
import { ringsWith, triedQuestion, triedVoters } from "../../../src/view/decision/TriedVotes.ts"
import { DECISION, eventsOf } from "../../support.ts"

const events = eventsOf([
  {
    type: "session.bound",
    data: { modeName: "macp.mode.decision.v1", participants: ["lead", "ana", "bob"], initiator: "lead" }
  },
  ...DECISION
])
const run = Domain.decisionRecord(events)
const { card } = reasonedCard(run, Domain.activePolicy(run))
const ring = card.rings[0]
const proposalId = ring?.proposalId ?? ""
const tried = [{ participantId: "ana", proposalId, vote: "REJECT" }]

// docs/reference/decisions.md#card
describe("a vote that is tried on the card", () => {
  it("moves its voter to the side of the vote, and changes no other", () => {
    const words = (rings: typeof card.rings) =>
      rings[0]?.seats.map(({ participantId, vote }) => `${participantId} ${vote}`)
    assert.deepStrictEqual(words(card.rings), ["ana for", "bob for", "lead none"])
    const changed = ringsWith(card, tried, undefined, false)
    assert.deepStrictEqual(words(changed), ["bob for", "lead none", "ana against"])
    assert.deepStrictEqual(changed[0]?.counts, { for: 1, against: 1, abstained: 0, none: 1 })
    assert.deepStrictEqual(words(card.rings), ["ana for", "bob for", "lead none"])
  })

  it("is pivotal as the answer says, until then nothing is", () => {
    const pivotal = (rings: typeof card.rings) =>
      rings[0]?.seats.flatMap((voter) => (voter.pivotal ? [voter.participantId] : []))
    assert.deepStrictEqual(pivotal(ringsWith(card, tried, undefined, false)), [])
    const answer = { pivotal: [{ participantId: "bob", proposalId }] }
    assert.deepStrictEqual(pivotal(ringsWith(card, tried, answer, false)), ["bob"])
  })

  it("has no tick under another policy, whose rules the card does not have", () => {
    const ruled = {
      ...card,
      rings: card.rings.map((each) => ({ ...each, rule: { kind: "share" as const, value: 0.5 } }))
    }
    assert.isDefined(ringsWith(ruled, tried, undefined, false)[0]?.rule)
    assert.isUndefined(ringsWith(ruled, tried, undefined, true)[0]?.rule)
  })

  it("is named in the question", () => {
    const ask = (votes: typeof tried, policy = "") => triedQuestion(votes, policy, () => undefined)
    assert.strictEqual(ask(tried), "What if ana had rejected?")
    assert.strictEqual(
      ask([...tried, { participantId: "bob", proposalId, vote: "ABSTAIN" }], "policy.strict"),
      "What if ana had rejected and bob had abstained under policy.strict?"
    )
    assert.strictEqual(ask([], "policy.strict"), "What if the votes had been counted under policy.strict?")
    assert.strictEqual(
      triedQuestion(tried, "", () => "go"),
      "What if ana had rejected go?"
    )
    assert.deepStrictEqual([...triedVoters(tried)], [[proposalId, new Set(["ana"])]])
  })
})
