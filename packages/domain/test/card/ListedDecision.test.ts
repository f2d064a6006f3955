import { assert, describe, it } from "@effect/vitest"
import {
  activePolicy,
  type DecisionFacts,
  decisionFacts,
  decisionRecord,
  nameKey,
  reasonedCard,
  voteKey
} from "@runplane/domain"
import { HISTORIES } from "../insight/Histories.ts"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { number } from "../support/events.ts"

const factsOf = (...drafts: Drafts): DecisionFacts => {
  const { by, run } = governed(...drafts)
  return decisionFacts(run, by)
}

const three = { rules: { voting: { algorithm: "majority" } }, participants: ["a", "b", "c"] }

describe("the decision of a run in a list", () => {
  it("has the verdict, the heads and the voters of the committed proposal", () => {
    const facts = factsOf(
      opened(three),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      votes("c", "REJECT"),
      commits(true)
    )
    assert.deepInclude(facts.listed, {
      ...{ verdict: "for", word: "Approved", question: "option of p1", counts: "2 for, 1 against, 3 of 3 voted" },
      seats: [
        ["a", "for", 1],
        ["b", "for", 1],
        ["c", "against", 1]
      ]
    })
    assert.deepStrictEqual(facts.dissenters, ["c"])
    assert.deepStrictEqual(facts.ballots, ["APPROVE a", "APPROVE b", "REJECT c"])
  })

  it("names those who approved what was declined as dissenters", () => {
    const drafts = [opened(three), proposes("a"), votes("a", "APPROVE"), votes("b", "REJECT"), votes("c", "REJECT")]
    assert.deepStrictEqual(factsOf(...drafts, commits(false)).dissenters, ["a"])
    assert.deepStrictEqual(factsOf(...drafts).dissenters, [])
  })

  it("counts more than 25 voters, and bounds names, questions and options", () => {
    const long = "\u0000\ud800<b>".repeat(4_000)
    const participants = Array.from({ length: 26 }, (_, at) => `${at}${long}`)
    const facts = factsOf(
      opened({ ...three, participants }),
      says(participants[0] ?? "", "Proposal", { option: long }),
      participants.map((by) => votes(by, "APPROVE"))
    )
    assert.notProperty(facts.listed, "seats")
    assert.strictEqual(facts.listed.heads?.none, 0)
    assert.isBelow(JSON.stringify(facts.listed).length, 3_000)
    assert.isTrue(facts.ballots.every((key) => key.length < 220 && key.isWellFormed() && !key.includes("\u0000")))
    assert.isTrue(facts.options.isWellFormed() && !facts.options.includes("\u0000"))
    assert.isBelow(facts.options.length, 4_097)
    assert.strictEqual(voteKey("REJECT", `a${long}`), `REJECT ${nameKey(`a${long}`)}`)
  })

  it.each(HISTORIES)("has the figures of the card: $name", ({ drafts }) => {
    const { by, run } = governed(...drafts)
    const { listed } = decisionFacts(run, by)
    const { card } = reasonedCard(run, by)
    assert.deepInclude(card, { verdict: listed.verdict, word: listed.word, counts: listed.counts })
    const ring = card.rings.length === 1 || card.rings[0]?.committed === true ? card.rings[0] : undefined
    assert.deepStrictEqual(listed.heads, ring?.counts)
    const voters = ring?.seats.map(({ participantId, vote, weight }) => [participantId, vote, weight])
    assert.deepStrictEqual<unknown>(listed.seats, voters)
  })

  it.prop("is total over any events, and bounded", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const run = decisionRecord(number(drafts))
    const facts = decisionFacts(run, activePolicy(run))
    assert.isBelow(JSON.stringify(facts.listed).length, 16_000)
  })
})
