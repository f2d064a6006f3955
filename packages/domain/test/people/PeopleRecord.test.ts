import { assert, describe, it } from "@effect/vitest"
import {
  type AnswerFact,
  addSeat,
  agentVote,
  answerFactOf,
  artifactCreated,
  type CanonicalEvent,
  decisionCard,
  type EventDraft,
  type EventFacts,
  emptySeat,
  type ItemFact,
  itemFactOf,
  measureOf,
  PeopleAnswer,
  PeopleItem,
  seatAnswers,
  seatRecord,
  seatText,
  sentenceOf,
  sentenceText,
  voterLines,
  why
} from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { commits, type Drafts, eventsOf, governed, opened, proposes } from "../support/deliberations.ts"
import { derived, reread } from "../support/events.ts"

const SEAT = "officer"
const HASH = "1a2b3c4d".repeat(8)
const NONCE = "0f".repeat(32)
const DAY = "2026-11-30T10"

const item = (over: Partial<PeopleItem> = {}): PeopleItem => ({
  v: 1,
  item: "i1",
  event: "closed",
  seat: SEAT,
  scenario: "payments/limit@1.0.0",
  state: "expired",
  unanswered: true,
  proposalHash: HASH,
  openedAt: `${DAY}:00:00.000Z`,
  deadline: `${DAY}:30:00.000Z`,
  nonce: NONCE,
  ...over
})

const answer = ({ person = "ada", ...over }: Partial<PeopleAnswer> = {}): PeopleAnswer => ({
  v: 1,
  item: "i1",
  seat: SEAT,
  origin: "person",
  person,
  proof: "session",
  act: "reject",
  messageId: "m-own",
  ordinal: 5,
  payloadSha256: HASH,
  proposalHash: HASH,
  basis: { ordinal: 2, sha256: HASH, withheld: [] },
  unseen: [],
  askedAt: `${DAY}:00:00.000Z`,
  answeredAt: `${DAY}:04:30.000Z`,
  deadline: `${DAY}:30:00.000Z`,
  channel: "api",
  revealed: "after",
  couldHaveSeen: false,
  nonce: NONCE,
  ...over
})

/** A step of an escalation. */
const escalated = (reach: "persons" | "unknown" | "none", over: Partial<PeopleItem> = {}): PeopleItem =>
  item({
    event: "escalated",
    state: "open",
    unanswered: false,
    escalation: { step: 1, to: ["group:leads", "person:cro"], cause: "time", reach },
    ...over
  })

/** The same as an act of the deadline. */
const ofDeadline = (over: Partial<PeopleAnswer> = {}): PeopleAnswer => {
  const { person: _, proof: __, ...rest } = answer({ answeredAt: `${DAY}:30:00.100Z`, channel: "deadline", ...over })
  return { ...rest, origin: "deadline" }
}

const recorded = (fact: { readonly answer: AnswerFact } | { readonly item: ItemFact }): EventDraft =>
  artifactCreated(
    `${DAY}:05:00.000Z`,
    { artifactId: "a1", kind: "answer" in fact ? "people.answer" : "people.item", label: "l", ...fact },
    "observability-controller"
  )
const artifactOf = (content: PeopleAnswer) => recorded({ answer: answerFactOf(content) })

const LINE = `[person ada item i1 sha256:${HASH.slice(0, 16)}]`

const votes = (by: string, vote: string, messageId: string, reason?: string) =>
  derived("proposal.updated", "Vote", by, { proposalId: "p1", vote, ...(reason && { reason }) }, messageId)

/** A proposal, two agents and the seat; then what the artifacts say, and the decision. */
const session = (own: EventDraft, ...artifacts: Drafts): Drafts => [
  opened({ participants: ["a", "b", SEAT], rules: { voting: { algorithm: "majority" } } }),
  proposes(),
  votes("a", "APPROVE", "m-a"),
  votes("b", "REJECT", "m-b"),
  own,
  ...artifacts,
  commits(false)
]
const rejects = votes(SEAT, "REJECT", "m-own", `the loss is not covered\n${LINE}`)

const explain = (drafts: Drafts) => {
  const { by, run } = governed(...drafts)
  const reasons = why(run, by)
  return { run, by, reasons, claims: reasons.claims.filter(({ participantId }) => participantId === SEAT) }
}

describe("why, of an answer of a person", () => {
  it("given a personal link, says that it is the weakest proof; given any other proof, does not", () => {
    const textOf = (proof: PeopleAnswer["proof"] & {}) =>
      explain(session(rejects, artifactOf(answer({ proof })))).claims[0]?.text ?? ""
    assert.include(textOf("link"), "; by a personal link, the weakest proof: without a sign-in")
    for (const proof of ["none", "slack", "session", "fresh"] as const) assert.notInclude(textOf(proof), "weakest")
  })

  it("given an answer on record, names person, seat, time and hash, and leaves out the line of the reason", () => {
    const { claims } = explain(session(rejects, artifactOf(answer())))
    assert.deepStrictEqual(
      claims.map(({ person, text }) => [person, text]),
      [
        [
          "ada",
          "person:ada voted REJECT on p1 for officer at 2026-11-30 10:04 UTC, on the proposal as it stood " +
            '(hash 1a2b3c4d): "the loss is not covered"'
        ]
      ]
    )
  })

  it("given messages that came in unseen, counts them by type", () => {
    const unseen = ["Evaluation", "Evaluation", "Objection"].map((type, at) => ({ ordinal: at + 3, type }))
    const { claims } = explain(session(rejects, artifactOf(answer({ unseen }))))
    assert.include(claims[0]?.text, "(hash 1a2b3c4d); 2 evaluations and 1 objection came in unseen")
  })

  it("given the line of a reason alone, believes no person", () => {
    const { claims, run } = explain(session(rejects))
    assert.isUndefined(claims[0]?.person)
    assert.strictEqual(claims[0]?.text, `officer voted REJECT on p1: "the loss is not covered\n${LINE}"`)
    assert.isUndefined(seatAnswers(run, SEAT))
  })

  it.each([
    ["another message", { messageId: "m-other" }],
    ["the message of another participant", { messageId: "m-a" }],
    ["another seat", { seat: "b" }]
  ] as const)("given an artifact about %s, believes no person", (_, over) => {
    const { claims } = explain(session(rejects, artifactOf(answer(over))))
    assert.isUndefined(claims[0]?.person)
  })

  it("given two artifacts about one message, believes the first", () => {
    const { claims } = explain(session(rejects, artifactOf(answer()), artifactOf(answer({ person: "eve" }))))
    assert.strictEqual(claims[0]?.person, "ada")
  })

  it("given an act of the deadline, reads no answer everywhere, and is the vote of no person", () => {
    const own = votes(SEAT, "REJECT", "m-own", `no answer by ${DAY}:30:00.000Z\n[deadline item i1 sha256:1a2b]`)
    const { by, claims, reasons, run } = explain(session(own, artifactOf(ofDeadline())))
    const text = "officer gave no answer by 2026-11-30 10:30 UTC, and its deadline voted REJECT on p1"
    assert.deepStrictEqual([claims[0]?.text, claims[0]?.unanswered, claims[0]?.person], [text, true, undefined])
    const without = reasons.counterfactuals.find(({ participantId }) => participantId === SEAT)
    assert.include(without?.text, "without officer, who gave no answer by 2026-11-30 10:30 UTC")
    const card = decisionCard(run, by, { why: reasons, forecast: undefined })
    assert.include(
      voterLines(card).join("; "),
      "officer gave no answer by 2026-11-30 10:30 UTC, and its deadline voted against it"
    )
    assert.isUndefined(agentVote(run, by, SEAT))
    assert.deepStrictEqual(agentVote(run, by, "a")?.isAgainstMajority, false)
  })

  it("given an answer, the card names the person, and the track record has its vote", () => {
    const { by, reasons, run } = explain(session(rejects, artifactOf(answer())))
    const card = decisionCard(run, by, { why: reasons, forecast: undefined })
    assert.include(voterLines(card).join("; "), "officer voted against it; by person:ada at 2026-11-30 10:04 UTC")
    assert.deepInclude(agentVote(run, by, SEAT), { person: "ada", isForOutcome: true })
  })
})

describe("the answers of a seat", () => {
  const counted = (...contents: ReadonlyArray<PeopleAnswer>) => {
    const acts = contents.map(({ messageId }, at) =>
      derived("proposal.updated", "Evaluation", SEAT, { proposalId: "p1", recommendation: String(at) }, messageId)
    )
    const { run } = governed(opened({ participants: ["a", SEAT] }), proposes(), ...acts, ...contents.map(artifactOf))
    return seatAnswers(run, SEAT)
  }

  it.each([
    ["2,999 ms after the question", { answeredAt: `${DAY}:00:02.999Z` }, 1],
    ["3,000 ms after the question", { answeredAt: `${DAY}:00:03.000Z` }, 0]
  ] as const)("given one %s, counts rubber stamps", (_, over, rubberStamps) => {
    assert.deepInclude(counted(answer(over)), { answers: 1, rubberStamps })
  })

  it("given votes of others shown before, and a deadline, counts them apart", () => {
    const shown = counted(answer({ revealed: "before" }), ofDeadline({ messageId: "m-2", revealed: "before" }))
    assert.deepStrictEqual(shown, { answers: 1, unanswered: 1, revealedBefore: 1, rubberStamps: 0 })
  })

  it("in words, names each person with its votes, and what does not count", () => {
    const { by, run } = explain(session(rejects, artifactOf(answer({ revealed: "before" }))))
    const vote = agentVote(run, by, SEAT)
    const one = seatAnswers(run, SEAT)
    if (one === undefined) throw new Error("the seat has no answers")
    const persons = ["ada", "bo", "cy", "di", "ed", "flo", "ada"]
    const tally = persons.reduce(
      (so, person) => addSeat(so, one, vote === undefined ? undefined : { ...vote, person }, true),
      emptySeat
    )
    assert.strictEqual(
      seatText({ ...tally, unanswered: 1, rubberStamps: 2 }),
      "A seat: people gave 7 answers; votes that count: ada 2, bo 1, cy 1, di 1, ed 1 and 1 more. " +
        "1 act of the deadline is the vote of no person. 2 answers came within 3 s of the question. " +
        "7 answers came with the votes of the others shown before."
    )
    assert.deepInclude(seatRecord(tally).persons[0], { person: "ada", runs: 2, judged: 2, right: 2 })
    assert.strictEqual(seatText(emptySeat), "A seat: people gave 0 answers.")
  })

  it("given none, has no answers", () => {
    assert.isUndefined(counted())
  })
})

const facts: EventFacts = {
  ...{ silenceMs: undefined, durationMs: undefined, end: undefined },
  ...{ streak: 0, isMindChange: false, isFailedAfterAll: false }
}

describe("the measure personSilent", () => {
  const changes = (draft: EventDraft) => {
    const [event] = eventsOf(draft)
    if (event === undefined) throw new Error("no event")
    // As it is read from the log.
    return measureOf("personSilent").change(reread(event), facts, false).length
  }

  it.each([
    ["expired", item(), 1],
    ["left open at the end", item({ state: "withdrawn" }), 1],
    ["opened", item({ event: "opened", state: "open", unanswered: false }), 0],
    ["answered", item({ state: "accepted", unanswered: false, person: "ada" }), 0],
    ["replaced", item({ state: "stale", unanswered: false }), 0]
  ] as const)("of a question that is %s", (_, content, count) => {
    assert.strictEqual(changes(recorded({ item: itemFactOf(content) })), count)
  })
})

describe("the measure personUnreached", () => {
  it.each([
    ["that reaches a person", escalated("persons"), 0],
    ["that only tokens can show", escalated("unknown"), 1],
    ["to no person", escalated("none"), 1],
    ["to no person when the question opens", escalated("none", { event: "unreachable" }), 1],
    ["that is not one, but an opened question", item({ event: "opened", state: "open", unanswered: false }), 0]
  ] as const)("of an escalation %s", (_, content, count) => {
    const [event] = eventsOf(recorded({ item: itemFactOf(content) }))
    if (event === undefined) throw new Error("no event")
    assert.lengthOf(measureOf("personUnreached").change(reread(event), facts, false), count)
  })
})

describe("the measure personUnnotified", () => {
  it.each([
    ["undelivered", 1],
    ["opened", 0],
    ["reminded", 0]
  ] as const)("counts a question that is %s %d times", (event, count) => {
    const [found] = eventsOf(recorded({ item: itemFactOf(item({ event, state: "open", unanswered: false })) }))
    if (found === undefined) throw new Error("no event")
    assert.lengthOf(measureOf("personUnnotified").change(reread(found), facts, false), count)
  })
})

describe("the sentences of questions and answers", () => {
  const said = (draft: EventDraft) => {
    const event: CanonicalEvent | undefined = eventsOf(draft)[0]
    const sentence = event && sentenceOf(event)
    return sentence && `${sentence.who} ${sentenceText(sentence, () => "")}`
  }

  it.each([
    [
      "officer is to answer by 2026-11-30 10:30 UTC (hash 1a2b3c4d)",
      recorded({ item: itemFactOf(item({ event: "opened", state: "open", unanswered: false })) })
    ],
    [
      "officer is reminded to answer by 2026-11-30 10:30 UTC (hash 1a2b3c4d)",
      recorded({ item: itemFactOf(item({ event: "reminded", state: "open", unanswered: false })) })
    ],
    [
      "officer has a question of which no person was notified (hash 1a2b3c4d)",
      recorded({ item: itemFactOf(item({ event: "undelivered", state: "open", unanswered: false })) })
    ],
    ["officer gives no answer by 2026-11-30 10:30 UTC (hash 1a2b3c4d)", recorded({ item: itemFactOf(item()) })],
    [
      "officer is not asked any more (hash 1a2b3c4d), and gave no answer",
      recorded({ item: itemFactOf(item({ state: "withdrawn" })) })
    ],
    ["officer has the answer of person:ada (hash 1a2b3c4d)", artifactOf(answer())],
    [
      "officer has the answer of person:ben (hash 1a2b3c4d), on behalf of person:ada",
      artifactOf(answer({ person: "ben", onBehalfOf: "ada" }))
    ],
    [
      "officer has the answer of person:dora (hash 1a2b3c4d), by a personal link, the weakest proof",
      artifactOf(answer({ person: "dora", proof: "link" }))
    ],
    [
      "officer has the answer of person:dora (hash 1a2b3c4d), on behalf of person:ada, by a personal link, the weakest proof",
      artifactOf(answer({ person: "dora", onBehalfOf: "ada", proof: "link" }))
    ],
    [
      "officer has its question escalated to group:leads, person:cro (hash 1a2b3c4d)",
      recorded({ item: itemFactOf(escalated("persons")) })
    ],
    [
      "officer has its question escalated to group:leads, person:cro (hash 1a2b3c4d), and no person of these is known",
      recorded({ item: itemFactOf(escalated("unknown")) })
    ],
    [
      "officer has no person to escalate its question to, in group:leads, person:cro (hash 1a2b3c4d)",
      recorded({ item: itemFactOf(escalated("none", { event: "unreachable" })) })
    ],
    [
      "officer has no person to escalate its question to (hash 1a2b3c4d)",
      recorded({
        item: itemFactOf(
          escalated("none", { event: "unreachable", escalation: { to: [], cause: "delegation", reach: "none" } })
        )
      })
    ],
    ["officer gives no answer by 2026-11-30 10:30 UTC (hash 1a2b3c4d), so its deadline acts", artifactOf(ofDeadline())]
  ])("%s", (text, draft) => {
    assert.strictEqual(said(draft), text)
  })

  it("an accepted item has no sentence beside that of its answer", () => {
    assert.isUndefined(said(recorded({ item: itemFactOf(item({ state: "accepted", unanswered: false })) })))
  })
})

describe("the content of the artifacts", () => {
  const refused = (schema: Schema.Codec<unknown, unknown>, content: object) =>
    Result.isFailure(Schema.decodeUnknownResult(schema)(content))

  it.each([
    ["no nonce", { nonce: "abc" }],
    ["a person of a deadline", { origin: "deadline" }],
    ["a person who answers for itself", { onBehalfOf: "ada" }],
    ["a hash that is not one", { proposalHash: "x" }],
    ["a time without a zone", { answeredAt: "2026-11-30 10:04" }],
    ["an id of two lines", { item: "a\nb" }]
  ] as const)("an answer with %s is refused", (_, over) => {
    assert.isFalse(refused(PeopleAnswer, answer()))
    assert.isTrue(refused(PeopleAnswer, { ...answer(), ...over }))
  })

  it("an item of an unknown state is refused", () => {
    assert.isFalse(refused(PeopleItem, item()))
    assert.isTrue(refused(PeopleItem, { ...item(), state: "gone" }))
  })

  it("an item has an escalation where its event is one", () => {
    const { escalation } = escalated("none")
    assert.isFalse(refused(PeopleItem, escalated("none")))
    assert.isTrue(refused(PeopleItem, { ...item(), event: "escalated" }))
    assert.isTrue(refused(PeopleItem, { ...item(), escalation }))
  })
})
