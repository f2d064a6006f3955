import { assert, describe, it } from "@effect/vitest"
import {
  cardLines,
  cardSentence,
  type DecisionCard,
  decisionCard,
  forecast,
  inOrder,
  ringPicture,
  sumsOf,
  tickOf,
  whatIf,
  why
} from "@runplane/domain"
import * as Result from "effect/Result"
import { HISTORIES } from "../insight/Histories.ts"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { derived, stateChanged } from "../support/events.ts"

const cardOf = (...drafts: Drafts): DecisionCard => {
  const { by, run } = governed(...drafts)
  return decisionCard(run, by, { why: why(run, by), forecast: forecast(run, by) })
}

/** "a for!, b none veto" */
const votersOf = ({ rings }: DecisionCard): ReadonlyArray<string> =>
  rings.map(({ committed, name, seats: voters }) => {
    const each = voters.map(
      ({ objection, participantId, pivotal, role, vote, weight }) =>
        `${participantId} ${role ?? vote}${weight === 1 ? "" : ` x${weight}`}${objection === undefined ? "" : ` ${objection}`}${pivotal ? "!" : ""}`
    )
    return `${committed ? "*" : ""}${name}: ${each.join(", ")}`
  })

const CARDS: Readonly<Record<string, readonly [word: string, counts: string, voters: ReadonlyArray<string>]>> = {
  "a simple majority": [
    "Approved",
    "3 for, 1 against, 4 of 4 voted",
    ["*option of p1: a for, b for, c for, d against"]
  ],
  "a tie that passes": ["Approved", "1 for, 1 against, 2 of 2 voted", ["*option of p1: a for!, b against"]],
  "a tie that the chair declines": ["Declined", "1 for, 1 against, 2 of 2 voted", ["*option of p1: a for, b against!"]],
  "weights for and against": [
    "Approved",
    "5 for, 2 against by weight, 4 of 4 voted",
    ["*option of p1: a for x3, b for x2, c against, d against"]
  ],
  "weights against the heads": [
    "Declined",
    "2 for, 5 against by weight, 3 of 3 voted",
    ["*option of p1: b for, c for, a against x5!"]
  ],
  "a supermajority that is missed": [
    "Declined",
    "2 for, 2 against, 4 of 4 voted",
    ["*option of p1: a for, b for, c against, d against"]
  ],
  "more votes for than against that miss a supermajority": [
    "Declined",
    "3 for, 1 against, 4 of 4 voted",
    ["*option of p1: a for, b for, c for, d against!"]
  ],
  unanimity: ["Approved", "4 for, 0 against, 4 of 4 voted", ["*option of p1: a for!, b for!, c for!, d for!"]],
  "a veto that declines": ["Declined", "3 for, 0 against, 3 of 3 voted", ["*option of p1: a for, b for veto!, c for"]],
  "a veto that is not used": [
    "Approved",
    "2 for, 1 against, 3 of 3 voted",
    ["*option of p1: a for, b for objection, c against"]
  ],
  "abstentions that count for the quorum alone": [
    "Approved",
    "1 for, 0 against, 2 abstained, 3 of 4 voted",
    ["*option of p1: a for!, b abstained!, c abstained!, d none"]
  ],
  "two proposals of which the rejected one is committed": [
    "Approved",
    "0 for, 3 against on go, 3 of 4 voted",
    ["*go: d none, a against, b against, c against", "hold: a for!, b for!, c for!, d none"]
  ],
  "two proposals of which the approved one is committed": [
    "Approved",
    "4 for, 0 against on hold, 4 of 4 voted",
    ["*hold: a for, b for, c for, d for", "go: d none, a against, b against, c against"]
  ],
  "two proposals, and a commitment that names none": [
    "Approved",
    "2 proposals, 4 of 4 voted",
    ["go: a for, b for, c for, d against", "hold: c for, d for, a against, b against"]
  ],
  "an empty tally that passes": [
    "Approved",
    "0 for, 0 against, 0 of 3 voted",
    ["*option of p1: a none, b none, c none"]
  ],
  "a committer that does not vote": [
    "Approved",
    "2 for, 1 against, 3 of 4 voted",
    ["*option of p1: a for, b for, lead none, c against"]
  ],
  "no policy of its own": [
    "Approved",
    "1 for, 2 against, 3 of 3 voted",
    ["*option of p1: a for, b against, c against"]
  ],
  "a quorum with an abstention": [
    "Approved",
    "2 for, 0 against, 1 abstained, 3 of 4 voted",
    ["*deploy: a for!, b for!, c abstained, d none"]
  ],
  "a quorum that is out of reach": [
    "Declined",
    "1 for, 1 against, 1 abstained, 3 of 3 voted",
    ["*deploy: a for, c abstained!, b against!"]
  ],
  "a task": ["Done", "3 participants", ["*: a completed it!, b none, c none"]],
  "a handoff that is declined": ["Declined", "3 participants", ["*: a none, c none, b declined it!"]],
  "an offer that all but its proposer accept": [
    "Agreed",
    "3 participants",
    ["*: b accepted!, c accepted!, a made an offer"]
  ],
  "a decline over an approval": [
    "Declined",
    "2 for, 1 against, 3 of 3 voted",
    ["*option of p1: a for, b for, c against!"]
  ],
  "a decline that its voters wanted": [
    "Declined",
    "1 for, 3 against, 4 of 4 voted",
    ["*option of p1: a for, b against, c against, d against"]
  ],
  "a session that expired without a decision": [
    "Expired",
    "1 for, 0 against, 1 of 4 voted",
    ["option of p1: a for, b none, c none, d none"]
  ]
}

// docs/reference/decisions.md#card
describe("the card of a decision", () => {
  it.each(HISTORIES)("shows $name", ({ drafts, name }) => {
    const card = cardOf(...drafts)
    assert.deepStrictEqual([card.word, card.counts, votersOf(card)], CARDS[name])
  })

  it.each(HISTORIES)("marks the voters of $name that why finds decisive", ({ drafts }) => {
    const { by, run } = governed(...drafts)
    const answer = why(run, by)
    const decisive = new Set(
      answer.counterfactuals.flatMap(({ participantId, stillAllowed }) => (stillAllowed ? [] : [participantId]))
    )
    const marked = cardOf(...drafts).rings.flatMap(({ seats: voters }) =>
      voters.flatMap(({ participantId, pivotal }) => (pivotal ? [participantId] : []))
    )
    assert.deepStrictEqual(new Set(marked), decisive)
  })
})

const WORDS = { for: "APPROVE", against: "REJECT", abstained: "ABSTAIN" } as const

describe("the tick of the ring", () => {
  const decisions = HISTORIES.filter(({ drafts }) => {
    const card = cardOf(...drafts)
    const rule = card.rings.length === 1 ? card.rings[0]?.rule : undefined
    // A runtime may accept a positive commitment of a quorum that is out of reach.
    return rule !== undefined && rule.kind !== "count"
  })

  it("is on many of the histories", () => {
    assert.isAbove(decisions.length, 12)
  })

  it.each(decisions)("of $name is where the votes carry it, for each voter and each vote", ({ drafts }) => {
    const { by, run } = governed(...drafts)
    const ring = decisionCard(run, by, { why: why(run, by) }).rings[0]
    if (ring?.rule === undefined) return assert.fail("no rule")
    for (const { participantId } of ring.seats) {
      for (const vote of ["for", "against", "abstained"] as const) {
        const changes = { votes: [{ participantId, proposalId: ring.proposalId, vote: WORDS[vote] }] }
        const answer = Result.getOrThrow(whatIf({ ...run, commitment: undefined }, by, changes))
        const changed = inOrder(
          ring.seats.map((voter) => (voter.participantId === participantId ? { ...voter, vote } : voter))
        )
        const tick = tickOf(ring.rule, sumsOf(changed))
        const objections = answer.after.reasons.filter((text) =>
          /votes do not carry|no votes cast|approvals/.test(text)
        )
        const passes = tick === undefined ? undefined : objections.length === 0
        assert.strictEqual(tick?.reached, passes, `${participantId} ${vote}: ${answer.after.reasons.join("; ")}`)
      }
    }
  })

  it("stands at the share of the votes cast, whatever was abstained or is missing", () => {
    const rules = { rules: { voting: { algorithm: "supermajority", threshold: 0.75 } } }
    const participants = ["a", "b", "c", "d", "e", "f"]
    const tick = (...drafts: Drafts) => {
      const ring = cardOf(opened({ ...rules, participants }), proposes(), ...drafts).rings[0]
      return ring?.rule === undefined ? undefined : tickOf(ring.rule, sumsOf(ring.seats))
    }
    assert.isUndefined(tick())
    assert.isUndefined(tick(votes("a", "ABSTAIN")))
    assert.deepStrictEqual(tick(votes("a", "APPROVE")), { at: 0.75, strict: false, reached: true })
    const four = ["a", "b", "c"].map((by) => votes(by, "APPROVE"))
    const missed = { at: 3, strict: false, reached: true }
    assert.deepStrictEqual(tick(...four, votes("d", "REJECT"), votes("e", "ABSTAIN")), missed)
  })

  it("leaves room for voters without weight, and is where the weights reach the rule", () => {
    const weights = { a: 3, b: 1 }
    const ring = cardOf(
      opened({ rules: { voting: { algorithm: "weighted", threshold: 0.75, weights } }, participants: ["z", "a", "b"] }),
      proposes(),
      votes("z", "APPROVE"),
      votes("a", "APPROVE"),
      votes("b", "REJECT")
    ).rings[0]
    if (ring === undefined) return assert.fail("no ring")
    assert.deepStrictEqual(
      ring.seats.map(({ weight }) => weight),
      [0, 3, 1]
    )
    const picture = ringPicture(ring.seats, { rule: ring.rule })
    // At the boundary between a, who reaches it alone, and b.
    const [, second, third] = picture.voters.map(({ path }) => path?.slice(1).split("A")[0]?.split(" ").map(Number))
    assert.isTrue(picture.tick?.reached)
    assert.isAbove(third?.[0] ?? 0, picture.tick?.from.x ?? 999)
    assert.isBelow(second?.[0] ?? 999, picture.tick?.from.x ?? 0)
  })
})

const majority = opened({ rules: { voting: { algorithm: "majority" } }, participants: ["a", "b", "c"] })

describe("the verdict", () => {
  const refusal = derived("policy.denied", "PolicyDenied", "lead", { reasons: ["vote quorum not met"] })
  it.each<readonly [name: string, drafts: Drafts, word: string, verdict: string]>([
    ["an open run", [majority, proposes()], "Open", "open"],
    ["an open run whose commitment was refused", [majority, proposes(), refusal], "Open", "open"],
    ["a suspended run", [majority, stateChanged("SUSPENDED")], "Suspended", "suspended"],
    ["a cancelled one", [majority, proposes(), stateChanged("CANCELLED")], "Cancelled", "cancelled"],
    ["an expired one", [majority, proposes(), stateChanged("EXPIRED")], "Expired", "expired"],
    [
      "an expired one whose commitment was refused",
      [majority, proposes(), refusal, stateChanged("EXPIRED")],
      "Stopped by the policy",
      "denied"
    ],
    ["a resolved one without commitment", [majority, stateChanged("RESOLVED")], "No decision", "none"],
    [
      "a commitment without a stated outcome",
      [majority, proposes(), derived("decision.finalized", "", "lead", { action: "step_up" })],
      "Decided",
      "decided"
    ]
  ])("of %s", (_, drafts, word, verdict) => {
    const card = cardOf(...drafts)
    assert.deepStrictEqual([card.word, card.verdict], [word, verdict])
  })

  it("of an open run has no confidence, and that of a decided one only the stated", () => {
    assert.notProperty(cardOf(majority, proposes(), votes("a", "APPROVE")), "confidence")
    assert.notProperty(cardOf(majority, proposes(), votes("a", "APPROVE"), commits(true)), "confidence")
    const stated = derived("decision.finalized", "", "lead", { action: "go", outcome_positive: true, confidence: 0.7 })
    assert.strictEqual(cardOf(majority, proposes(), stated).confidence, 0.7)
  })
})

describe("the sentences", () => {
  const textsOf = (...drafts: Drafts) => cardOf(...drafts).sentences.map(({ text }) => text)

  it("keep the names of participants as they are, and repeat nothing", () => {
    for (const { drafts } of HISTORIES) {
      const texts = textsOf(...drafts)
      assert.deepStrictEqual([...new Set(texts)], texts)
    }
    const handoff = HISTORIES.find(({ name }) => name === "a handoff that is declined")
    assert.deepStrictEqual(textsOf(...(handoff?.drafts ?? [])), ["b declined h1.", "Without b it would not stand."])
  })

  it("are not turned around by a name", () => {
    const name = "\u202eabc"
    const texts = textsOf(
      opened({ mode: "handoff", participants: ["a", name] }),
      says("lead", "HandoffOffer", { target_participant: name, scope: "billing" }, "h1"),
      says(name, "HandoffDecline", {}, "h1"),
      commits(false)
    )
    assert.include(texts, `Without \u2068${name}\u2069 it would not stand.`)
  })

  it("of an open run are what it waits for and what is still possible", () => {
    const veto = opened({
      rules: { voting: { algorithm: "majority" }, objection_handling: { critical_severity_vetoes: true } }
    })
    assert.deepStrictEqual(textsOf(veto, proposes(), says("b", "Objection", { severity: "critical" })), [
      "3 of 3 have not voted: a, b, c.",
      "An approval is now out of reach: 1 critical objection is a veto (1 needed).",
      "A decline is now out of reach: 1 critical objection is a veto (1 needed)."
    ])
  })

  it("of a run without a decision say once what was missing", () => {
    const expired = HISTORIES.find(({ name }) => name === "a session that expired without a decision")
    assert.deepStrictEqual(textsOf(...(expired?.drafts ?? [])), [
      "Nothing is decided, and the session has expired.",
      "Quorum missed: 1 of 4 participants voted, 2 needed.",
      "3 of 4 had not voted: b, c, d."
    ])
  })
})

describe("the voters", () => {
  const opinions = [
    majority,
    proposes(),
    says("b", "Evaluation", { recommendation: "BLOCK", confidence: 0.4 }),
    says("c", "Evaluation", { recommendation: "APPROVE", confidence: 0.9 }),
    votes("c", "REJECT")
  ]

  it("have the opinion of who has not voted, and the confidence of the last evaluation", () => {
    const voters = cardOf(...opinions).rings[0]?.seats ?? []
    assert.deepInclude(
      voters.find(({ participantId }) => participantId === "b"),
      { opinion: "against", confidence: 0.4 }
    )
    const voter = voters.find(({ participantId }) => participantId === "c")
    assert.deepInclude(voter, { vote: "against", confidence: 0.9 })
    assert.notProperty(voter, "opinion")
  })

  it("are empty, not absent, before anything is proposed", () => {
    assert.deepStrictEqual(votersOf(cardOf(majority)), [": a none, b none, c none"])
  })

  it("of a card without pictures are lines of text", () => {
    const lines = cardLines(cardOf(...opinions))
    assert.include(lines, "b has not voted and recommends against it; confidence 40 %; pivotal")
    assert.include(lines, "c voted against it; confidence 90 %")
    assert.strictEqual(lines[0], cardSentence(cardOf(...opinions)))
  })
})
