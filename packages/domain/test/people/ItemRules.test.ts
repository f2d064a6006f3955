import { assert, describe, it } from "@effect/vitest"
import {
  type AnswerContent,
  actMessage,
  answersOf,
  BARRIER_MS,
  barrierOf,
  type CheckedItem,
  checkAnswer,
  deadlineAct,
  type GivenAnswer,
  ItemState,
  isClosed,
  MAX_REASON,
  mayBecome,
  type RawEnvelope,
  reasonWithLine,
  type SeatText,
  staleSince,
  subjectsFor,
  takesEvaluations
} from "@runplane/domain"
import {
  DECISION,
  evaluates,
  HANDOFF,
  objects,
  proposes,
  QUORUM,
  rulesOf,
  SEAT,
  START,
  says,
  starts,
  viewOf,
  votes
} from "./seatSessions.ts"

describe("the life of an item", () => {
  const LIVES: Readonly<Record<ItemState, ReadonlyArray<ItemState>>> = {
    waiting: ["open", "stale", "not-needed", "withdrawn"],
    open: ["answered", "stale", "not-needed", "expired", "withdrawn"],
    answered: ["sent", "accepted", "refused", "unknown"],
    sent: ["accepted", "refused", "unknown"],
    accepted: [],
    stale: [],
    "not-needed": [],
    expired: [],
    withdrawn: [],
    refused: [],
    unknown: []
  }
  it.each(ItemState.literals)("goes on from %s as the table has it", (from) => {
    assert.deepStrictEqual(
      ItemState.literals.filter((to) => mayBecome(from, to)),
      [...LIVES[from]].sort(inOrder)
    )
    assert.strictEqual(isClosed(from), LIVES[from].length === 0)
  })
  const inOrder = (one: ItemState, other: ItemState) =>
    ItemState.literals.indexOf(one) - ItemState.literals.indexOf(other)
})

describe("when an item opens", () => {
  const barrier = (
    envelopes: ReadonlyArray<RawEnvelope>,
    when: "proposed" | "evaluated" | "others-voted",
    afterMs = 0
  ) => {
    const view = viewOf([starts(), proposes(), ...envelopes])
    const [subject] = subjectsFor(view, SEAT)
    if (subject === undefined) throw new Error("nothing is proposed")
    return barrierOf(view, { seats: new Set([SEAT, "cro"]), subject, when }, START + 1_000 + afterMs)
  }

  it("is at once for proposed", () => {
    assert.deepStrictEqual(barrier([], "proposed"), { isMet: true })
  })

  it("waits for an evaluation, an objection or a vote of every agent but the proposer, and for no other person", () => {
    const some = [objects("a")]
    assert.isFalse(barrier(some, "evaluated").isMet)
    assert.isTrue(barrier([...some, votes("b")], "evaluated").isMet)
    assert.isFalse(barrier([...some, evaluates("b", "p2")], "evaluated").isMet)
  })

  it("waits for the votes of all agents for others-voted", () => {
    assert.isFalse(barrier([evaluates("a"), evaluates("b")], "others-voted").isMet)
    assert.isTrue(barrier([votes("lead"), votes("a"), votes("b")], "others-voted").isMet)
  })

  it("opens a minute after the last of them", () => {
    const atUnixMs = START + 2_000 + BARRIER_MS
    assert.deepStrictEqual(barrier([evaluates("a")], "evaluated"), { isMet: false, atUnixMs })
    assert.isFalse(barrier([evaluates("a")], "evaluated", 1_000 + BARRIER_MS - 1).isMet)
    assert.isTrue(barrier([evaluates("a")], "evaluated", 1_000 + BARRIER_MS).isMet)
    assert.isTrue(barrier([], "evaluated", BARRIER_MS).isMet)
  })

  it("takes evaluations until the first vote", () => {
    assert.isTrue(takesEvaluations(viewOf([starts(), proposes(), evaluates("a")])))
    assert.isFalse(takesEvaluations(viewOf([starts(), proposes(), votes("a")])))
  })
})

describe("an item is stale", () => {
  const reason = (later: ReadonlyArray<RawEnvelope>, stale: "proposal" | "record" = "proposal") =>
    staleSince(viewOf([starts(), proposes(), evaluates("a"), ...later]), SEAT, 2, 3, stale)?.reason

  it("after another proposal, and not after what was there before", () => {
    assert.isUndefined(reason([]))
    assert.strictEqual(reason([proposes("p2")]), "another proposal")
    assert.strictEqual(reason([evaluates("b"), proposes("p2")]), "another proposal")
  })

  it("after an evaluation or an objection of another, where the seat follows the record", () => {
    assert.isUndefined(reason([evaluates("b"), objects("b"), votes("b")]))
    assert.strictEqual(reason([evaluates("b")], "record"), "a longer record")
    assert.strictEqual(reason([objects("b")], "record"), "a longer record")
    assert.isUndefined(reason([evaluates(SEAT), votes("b")], "record"))
  })

  it("after a context of its own handoff", () => {
    const offer = says(
      "lead",
      "HandoffOffer",
      { handoffId: "h1", targetParticipant: SEAT, scope: "x" },
      { mode: HANDOFF }
    )
    const context = (handoffId: string) => says("lead", "HandoffContext", { handoffId }, { mode: HANDOFF })
    const of = (handoffId: string) =>
      staleSince(viewOf([starts(undefined, HANDOFF), offer, context(handoffId)], HANDOFF), SEAT, 2, 2, "proposal")
        ?.reason
    assert.strictEqual(of("h1"), "a handoff context")
    assert.isUndefined(of("h0"))
  })
})

const PERSON = "ana"
const content: AnswerContent = { act: "reject", reason: "the loss is not covered" }
const given: GivenAnswer = { person: PERSON, content, proposalHash: "h1", answeredAtUnixMs: START }
const item = (members: Partial<CheckedItem> = {}, text: Partial<SeatText> = {}): CheckedItem => ({
  state: "open",
  mode: "decision",
  rules: rulesOf(text),
  proposalHash: "h1",
  deadlineUnixMs: START + 1_000,
  given: undefined,
  staleness: undefined,
  takesEvaluations: true,
  ...members
})
const submitted = (members: Partial<AnswerContent> = {}, proposalHash = "h1", person = PERSON) => ({
  person,
  content: { ...content, ...members },
  proposalHash
})

describe("an answer", () => {
  it("is stored while the item is open", () => {
    assert.deepStrictEqual(checkAnswer(item(), submitted(), START), { _tag: "store" })
  })

  it("is the first one again for the same person and content, also later", () => {
    const done = item({ state: "accepted", given })
    assert.deepStrictEqual(checkAnswer(done, submitted(), START + 9_000), { _tag: "same" })
  })

  it.each([
    ["another act", submitted({ act: "approve" })],
    ["another reason", submitted({ reason: "so" })],
    ["another confidence", submitted({ confidence: 0.5 })],
    ["another hash", submitted({}, "h2")],
    ["another person", submitted({}, "h1", "bo")]
  ])("is refused with the first one for %s", (_, other) => {
    assert.deepStrictEqual(checkAnswer(item({ state: "sent", given }), other, START), { _tag: "answered", by: given })
  })

  it("is stale for another hash, for a stale item, and for a proposal that came in meanwhile", () => {
    const by = viewOf([starts(), proposes(), proposes("p2")]).messages[2]
    if (by === undefined) throw new Error("no message")
    const staleness = { reason: "another proposal", by } as const
    assert.strictEqual(checkAnswer(item(), submitted({}, "h2"), START)._tag, "stale")
    assert.strictEqual(checkAnswer(item({ state: "stale" }), submitted(), START)._tag, "stale")
    assert.deepStrictEqual(checkAnswer(item({ staleness }), submitted(), START), {
      _tag: "stale",
      was: "h1",
      now: "h1",
      staleness
    })
  })

  it("is gone at the deadline, and after the item was closed", () => {
    assert.deepStrictEqual(checkAnswer(item(), submitted(), START + 1_000), { _tag: "gone", state: "expired" })
    assert.deepStrictEqual(checkAnswer(item({ deadlineUnixMs: undefined }), submitted(), START + 1e9), {
      _tag: "store"
    })
    for (const state of ["not-needed", "withdrawn", "expired"] as const) {
      assert.deepStrictEqual(checkAnswer(item({ state }), submitted(), START), { _tag: "gone", state })
    }
    assert.deepStrictEqual(checkAnswer(item({ state: "waiting" }), submitted(), START), { _tag: "not-open" })
  })

  const faults: ReadonlyArray<readonly [field: string, members: Partial<AnswerContent>, about: CheckedItem]> = [
    ["act", { act: "accept" }, item()],
    ["act", { act: "abstain" }, item({}, { acts: ["vote"] })],
    ["act", { act: "object" }, item({ takesEvaluations: false }, { acts: ["object", "vote"] })],
    ["recommendation", { act: "evaluate" }, item({}, { acts: ["evaluate"] })],
    ["recommendation", { recommendation: "APPROVE" }, item()],
    ["severity", { severity: "high" }, item()],
    ["confidence", { confidence: 1.1 }, item()],
    ["confidence", { confidence: Number.NaN }, item()],
    ["reason", { reason: " " }, item()],
    ["reason", { reason: "x".repeat(MAX_REASON + 1) }, item()]
  ]
  it.each(faults)("names the field %s of a fault in %j", (field, members, about) => {
    const verdict = checkAnswer(about, submitted(members), START)
    assert.strictEqual(verdict._tag === "invalid" ? verdict.field : verdict._tag, field)
  })

  it("needs no reason where the seat leaves it open", () => {
    assert.strictEqual(checkAnswer(item({}, { reason: "optional" }), submitted({ reason: "" }), START)._tag, "store")
  })
})

describe("the message of an answer", () => {
  const of = (mode: "decision" | "quorum" | "handoff", modeName: string, members: Partial<AnswerContent>) =>
    actMessage(modeName, mode, "s1", { ...content, ...members }, "why")

  it.each([
    ["decision", DECISION, { act: "approve" }, "Vote", { proposalId: "s1", reason: "why", vote: "APPROVE" }],
    [
      "decision",
      DECISION,
      { act: "reject", confidence: 0.4 },
      "Vote",
      { proposalId: "s1", reason: "why", vote: "REJECT" }
    ],
    ["decision", DECISION, { act: "abstain" }, "Vote", { proposalId: "s1", reason: "why", vote: "ABSTAIN" }],
    [
      "decision",
      DECISION,
      { act: "evaluate", recommendation: "BLOCK", confidence: 0.4 },
      "Evaluation",
      { proposalId: "s1", reason: "why", recommendation: "BLOCK", confidence: 0.4 }
    ],
    [
      "decision",
      DECISION,
      { act: "object", severity: "critical" },
      "Objection",
      { proposalId: "s1", reason: "why", severity: "critical" }
    ],
    ["decision", DECISION, { act: "object" }, "Objection", { proposalId: "s1", reason: "why", severity: "medium" }],
    ["quorum", QUORUM, { act: "approve" }, "Approve", { requestId: "s1", reason: "why" }],
    ["quorum", QUORUM, { act: "reject" }, "Reject", { requestId: "s1", reason: "why" }],
    ["quorum", QUORUM, { act: "abstain" }, "Abstain", { requestId: "s1", reason: "why" }],
    ["handoff", HANDOFF, { act: "accept" }, "HandoffAccept", { handoffId: "s1", reason: "why" }],
    ["handoff", HANDOFF, { act: "decline" }, "HandoffDecline", { handoffId: "s1", reason: "why" }]
  ] as const)("in a %s is that of %s with %j", (mode, modeName, members, messageType, payload) => {
    const payloadType = `macp.modes.${mode}.v1.${messageType}Payload`
    assert.deepStrictEqual(of(mode, modeName, members), { messageType, payloadType, payload })
  })

  it("does not exist for an act of another mode", () => {
    assert.isUndefined(of("decision", DECISION, { act: "accept" }))
    assert.isUndefined(of("quorum", QUORUM, { act: "object" }))
    assert.isUndefined(of("handoff", HANDOFF, { act: "approve" }))
  })

  it("has a last line with person, item and hash, which no id can break", () => {
    const hash = "0123456789abcdef0123"
    const line = (person: string | undefined, text = "no") =>
      reasonWithLine(text, { person, item: "i1", proposalHash: hash })
    assert.strictEqual(line("oidc:ana@x"), "no\n[person oidc:ana@x item i1 sha256:0123456789abcdef]")
    assert.strictEqual(line("a] item x\n["), "no\n[person a%5D%20item%20x%0A%5B item i1 sha256:0123456789abcdef]")
    assert.strictEqual(line("\ud800", ""), "[person %EF%BF%BD item i1 sha256:0123456789abcdef]")
    assert.strictEqual(line(undefined), "no\n[deadline item i1 sha256:0123456789abcdef]")
  })

  it("of a deadline rejects or abstains, and never approves", () => {
    assert.strictEqual(deadlineAct("decision", "reject"), "reject")
    assert.strictEqual(deadlineAct("quorum", "abstain"), "abstain")
    assert.strictEqual(deadlineAct("handoff", "reject"), "decline")
    assert.isUndefined(deadlineAct("handoff", "abstain"))
    assert.isUndefined(deadlineAct("decision", "nothing"))
  })

  it("is one that the seat can give", () => {
    assert.deepStrictEqual(answersOf("decision", ["vote", "object"]), ["approve", "reject", "object"])
    assert.deepStrictEqual(answersOf("handoff", ["accept", "decline"]), ["accept", "decline"])
  })
})
