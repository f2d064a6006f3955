import { assert, describe, it } from "@effect/vitest"
import {
  type AnswerContent,
  actMessage,
  basisAt,
  basisOf,
  checkAnswer,
  type GivenAnswer,
  type ItemState,
  isLastWord,
  type JsonObject,
  mayBecome,
  planSeat,
  proposalHash,
  type RawEnvelope,
  type Seat,
  type SeatText,
  type SeatView,
  type StoredItem,
  seeEnvelope,
  staleSince,
  takesEvaluations
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { ModelRuntime } from "./modelRuntime.ts"
import {
  DECISION,
  evaluates,
  proposes,
  rulesOf,
  SEAT,
  SESSION,
  START,
  says,
  starts,
  viewOf,
  votes
} from "./seatSessions.ts"

/** A row of the model: an item with everything that the service stores of it. */
interface Row extends StoredItem {
  readonly nonce: string
  readonly proposalHash: string
  readonly given: GivenAnswer | undefined
  /** The bytes that the outbox sends, under each id that the answer has had. */
  readonly envelope: RawEnvelope | undefined
  readonly ids: ReadonlyArray<string>
}

/** The service around the pure functions: rows, an outbox that repeats itself, a view that is read again. */
class ModelService {
  rows: ReadonlyArray<Row> = []
  view: SeatView = viewOf([])
  now = START
  made = 0
  readonly runtime: ModelRuntime
  readonly seat: Seat

  constructor(runtime: ModelRuntime, seat: Seat) {
    this.runtime = runtime
    this.seat = seat
  }

  /** Reads what it has not read yet, and brings the rows up to it until nothing changes. */
  catchUp() {
    for (const envelope of this.runtime.accepted.slice(this.view.messages.length)) {
      this.view = seeEnvelope({ sha256, decode: () => undefined }, this.view, envelope, this.now)
    }
    for (let round = 0; round < 20; round += 1) {
      const ended = this.runtime.ended ? "CANCELLED" : undefined
      const { changes } = planSeat(this.view, this.seat, this.rows, { unixMs: this.now, ended })
      if (changes.length === 0) return
      for (const change of changes) {
        switch (change._tag) {
          case "create":
            this.rows = [...this.rows, this.newRow(change.subject.ordinal)]
            break
          case "open":
            this.become(change.id, "open", change)
            break
          case "close":
            this.become(change.id, change.state)
            break
          case "answer":
            this.storeByDeadline(this.row(change.id), { act: change.act, reason: change.reason })
            break
          case "accept":
            this.become(change.id, "accepted")
            break
          case "id-taken":
            this.renew(this.row(change.id))
        }
      }
    }
    throw new Error("the plan does not come to rest")
  }

  /** What a restart does: the rows stay, the view is read again. */
  restart() {
    this.view = viewOf([])
  }

  answer(row: Row, person: string, content: AnswerContent, shown: { readonly ordinal: number; readonly hash: string }) {
    const current = this.row(row.id)
    const basis = this.view.messages[shown.ordinal - 1]
    const staleness =
      current.basisOrdinal === undefined
        ? undefined
        : staleSince(this.view, SEAT, current.subject, shown.ordinal, this.seat.rules.stale)
    const verdict = checkAnswer(
      {
        state: current.state,
        mode: "decision",
        rules: this.seat.rules,
        proposalHash: current.proposalHash,
        deadlineUnixMs: current.deadlineUnixMs,
        given: current.given,
        staleness,
        takesEvaluations: takesEvaluations(this.view)
      },
      { person, content, proposalHash: shown.hash },
      this.now
    )
    if (verdict._tag === "store" && basis !== undefined) this.store(current, person, content, shown)
  }

  /** One pass of the outbox; `isHeard` is whether the acknowledgement arrives. */
  deliver(row: Row, isHeard: boolean) {
    if ((row.state !== "answered" && row.state !== "sent") || row.envelope === undefined) return
    const ack = this.runtime.send(row.envelope)
    if (!isHeard) return
    if (ack === "refused") this.become(row.id, "refused")
    else if (row.state === "answered") this.become(row.id, "sent")
  }

  private row(id: string): Row {
    const found = this.rows.find((one) => one.id === id)
    if (found === undefined) throw new Error(`no item ${id}`)
    return found
  }

  private become(id: string, state: ItemState, more: Partial<Row> = {}) {
    const before = this.row(id)
    assert.isTrue(mayBecome(before.state, state), `${before.state} -> ${state}`)
    this.rows = this.rows.map((one) => (one.id === id ? { ...one, ...more, id, state } : one))
  }

  private newRow(subject: number): Row {
    const id = `i${this.rows.length + 1}`
    const nonce = `nonce of ${subject}`
    return {
      id,
      subject,
      state: "waiting",
      basisOrdinal: undefined,
      deadlineUnixMs: undefined,
      answer: undefined,
      nonce,
      proposalHash: hashOf(this.view, subject, nonce),
      given: undefined,
      envelope: undefined,
      ids: []
    }
  }

  private storeByDeadline(row: Row, content: AnswerContent) {
    this.store(row, undefined, content, { ordinal: this.view.messages.length, hash: row.proposalHash })
  }

  private store(
    row: Row,
    person: string | undefined,
    content: AnswerContent,
    { hash, ordinal }: { readonly ordinal: number; readonly hash: string }
  ) {
    assert.isUndefined(row.given)
    const subject = this.view.messages[row.subject - 1]
    const message = actMessage(DECISION, "decision", subject?.statement.proposalId ?? "", content, content.reason)
    const shown = basisAt(this.view, SEAT, "after", {
      ordinal,
      sha256: this.view.messages[ordinal - 1]?.digest ?? ""
    })
    if (message === undefined || shown === undefined) throw new Error("an answer without a message or a basis")
    const envelope = says(SEAT, message.messageType, { ...message.payload }, { id: this.newId() })
    const payloadSha256 = viewOf([envelope]).messages[0]?.payloadSha256 ?? ""
    this.become(row.id, "answered", {
      given: { person, content, proposalHash: hash, answeredAtUnixMs: this.now },
      envelope,
      ids: [envelope.messageId],
      answer: { act: content.act, messageId: envelope.messageId, payloadSha256, basis: shown }
    })
  }

  private renew(row: Row) {
    if (row.envelope === undefined || row.answer === undefined) throw new Error("no message")
    const messageId = this.newId()
    const answer = { ...row.answer, messageId }
    const envelope = { ...row.envelope, messageId }
    this.rows = this.rows.map((one) =>
      one.id === row.id ? { ...one, envelope, answer, ids: [...row.ids, messageId] } : one
    )
  }

  private newId() {
    this.made += 1
    return `message ${this.made}`
  }
}

const hashOf = (view: SeatView, ordinal: number, nonce: string): string => {
  const subject = view.messages[ordinal - 1]
  return proposalHash(sha256, {
    sessionId: SESSION,
    mode: DECISION,
    modeVersion: "1.0.0",
    configurationVersion: "c1",
    policyVersion: "policy.default",
    policyHash: null,
    participants: [...(view.opening?.participants ?? [])],
    subject: {
      messageId: subject?.messageId ?? "",
      sender: subject?.statement.by ?? "",
      type: subject?.statement.type ?? "",
      payloadSha256: subject?.payloadSha256 ?? "",
      nonce
    }
  })
}

/** What must hold after every step, whatever has happened. */
const invariants = ({ rows, runtime }: ModelService) => {
  const isOf = (row: Row) => (one: RawEnvelope) => one.sender === SEAT && row.ids.includes(one.messageId)
  for (const row of rows) {
    const envelopes = runtime.accepted.filter(isOf(row))
    assert.isAtMost(envelopes.length, 1, `${row.id} has two messages`)
    if (envelopes.length === 0) continue
    // The hash of the answer is that of the message that the runtime accepted.
    assert.strictEqual(row.given?.proposalHash, hashOf(viewOf(runtime.accepted), row.subject, row.nonce))
    const { vote } = JSON.parse(new TextDecoder().decode(envelopes[0]?.payload))
    if (vote === "APPROVE") assert.isDefined(row.given?.person, "an approval without a person")
  }
  const own = runtime.accepted.filter((one) => one.sender === SEAT)
  assert.strictEqual(own.length, own.filter((one) => rows.some((row) => isOf(row)(one))).length)
}

const CONTENTS: ReadonlyArray<AnswerContent> = [
  { act: "approve", reason: "yes" },
  { act: "reject", reason: "no" },
  { act: "abstain", reason: "unsure" },
  { act: "evaluate", recommendation: "REVIEW", reason: "not yet" },
  { act: "object", severity: "high", reason: "too early" },
  { act: "accept", reason: "of another mode" },
  { act: "approve", reason: "" }
]
const TEXTS: ReadonlyArray<Partial<SeatText>> = [
  { when: "proposed", acts: ["evaluate", "object", "vote", "abstain"] },
  { when: "evaluated", deadline: "2m", onDeadline: "reject" },
  { when: "proposed", deadline: "30s", onDeadline: "abstain", stale: "record" },
  { when: "others-voted", deadline: "1m" },
  { when: "evaluated", acts: ["evaluate", "object", "vote"], stale: "record" }
]

/** One step; `by` and `of` choose among what there is. */
const step = (service: ModelService, kind: number, by: number, of: number) => {
  const { runtime } = service
  const at = <A>(list: ReadonlyArray<A>, index: number): A | undefined => list[index % Math.max(1, list.length)]
  const agent = at(["lead", "a", "b"], by) ?? "lead"
  const proposalId = `p${(of % 2) + 1}`
  const row = at(service.rows, of)
  switch (kind) {
    case 0:
      runtime.send(proposes(proposalId))
      break
    case 1:
      runtime.send(evaluates(agent, proposalId))
      break
    case 2:
      runtime.send(votes(agent, at(["APPROVE", "REJECT", "ABSTAIN"], of), proposalId))
      break
    case 3:
      service.now += 1 + (by % 100) * 1_000
      service.catchUp()
      break
    case 4:
    case 5:
      // Two people answer what they were shown, which may be old, with the right hash or a wrong one.
      if (row !== undefined) {
        const ordinal = Math.max(row.subject, service.view.messages.length - (by % 3))
        const content = at(CONTENTS, by) ?? { act: "reject", reason: "no" }
        const hash = by % 5 === 0 ? "another hash" : row.proposalHash
        service.answer(row, at(["ana", "bo"], by) ?? "ana", content, { ordinal, hash })
      }
      break
    case 6:
      if (row !== undefined) service.deliver(row, by % 3 !== 0)
      break
    case 7:
      service.catchUp()
      break
    case 8:
      service.restart()
      service.catchUp()
      break
    case 9:
      // Another participant guesses the id of the next message, or repeats one.
      runtime.send({ ...evaluates(agent, proposalId), messageId: `message ${service.made + (by % 2)}` })
      break
    case 10:
      runtime.ended = by % 12 === 0
      break
    default:
  }
}

/** The kinds of steps, the usual ones more often. */
const KINDS = [0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7, 8, 9, 10]

describe("a seat, whatever happens", () => {
  const number = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 })))
  const steps = Arbitrary.array(Arbitrary.all({ kind: pick(KINDS), by: number, of: number }), {
    maxLength: 60
  })

  it.prop(
    "sends at most one message for an item, bound to the accepted proposal, and approves by a person alone",
    { text: pick(TEXTS), steps },
    ({ steps, text }) => {
      const runtime = new ModelRuntime()
      for (const one of [starts(), proposes()]) runtime.send(one)
      const seat: Seat = { id: SEAT, seats: new Set([SEAT]), rules: rulesOf(text), sessionRules: undefined }
      const service = new ModelService(runtime, seat)
      for (const { by, kind, of } of steps) {
        step(service, kind, by, of)
        invariants(service)
      }
      // The service is left alone: what was answered goes in, once, unless the session is over or refuses it.
      for (let round = 0; round < 4; round += 1) {
        service.catchUp()
        for (const row of service.rows) service.deliver(row, true)
        invariants(service)
      }
      for (const row of service.rows) {
        assert.notInclude(["answered", "sent"], row.state)
        const isIn = runtime.accepted.some(({ messageId, sender }) => sender === SEAT && row.ids.includes(messageId))
        if (row.given !== undefined) assert.strictEqual(row.state, isIn ? "accepted" : "refused")
        else assert.isFalse(isIn)
      }
    },
    { arbitrary: { runs: 1_500, size: 100 } }
  )

  it("has people's votes among its messages", () => {
    const runtime = new ModelRuntime()
    for (const one of [starts(), proposes(), evaluates("a")]) runtime.send(one)
    const rules = rulesOf({ when: "proposed" })
    const service = new ModelService(runtime, { id: SEAT, seats: new Set([SEAT]), rules, sessionRules: undefined })
    service.catchUp()
    const [row] = service.rows
    if (row === undefined) throw new Error("no item")
    const shown = { ordinal: basisOf(service.view, SEAT, "after").ordinal, hash: row.proposalHash }
    service.answer(row, "ana", { act: "approve", reason: "yes" }, shown)
    service.deliver(service.rows[0] ?? row, false)
    service.catchUp()
    assert.strictEqual(service.rows[0]?.state, "accepted")
    assert.strictEqual(service.rows[0]?.given?.person, "ana")
    const messages: ReadonlyArray<JsonObject> = runtime.accepted
      .filter(({ sender }) => sender === SEAT)
      .map(({ payload }) => JSON.parse(new TextDecoder().decode(payload)))
    assert.deepStrictEqual(messages, [{ proposalId: "p1", reason: "yes", vote: "APPROVE" }])
    assert.isTrue(isLastWord("approve"))
  })
})
