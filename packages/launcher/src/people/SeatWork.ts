import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AnswerContent,
  actMessage,
  type Basis,
  basisOf,
  type Hashed,
  type ItemChange,
  isClosed,
  payloadTypeName,
  planSeat,
  proposalHash,
  reasonWithLine,
  type SeenMessage,
  type SessionOpening,
  sha256Hex
} from "@runplane/domain"
import { encodePayload } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AnswerRows, type NewAnswer } from "./AnswerRows.ts"
import { AssigneeRows } from "./AssigneeRows.ts"
import { DelegationRows } from "./escalate/DelegationRows.ts"
import { EscalationRows } from "./escalate/EscalationRows.ts"
import { Escalations } from "./escalate/Escalations.ts"
import { Persons } from "./escalate/Persons.ts"
import { ItemRows } from "./ItemRows.ts"
import { OpenLimits } from "./OpenLimits.ts"
import { RecordRows } from "./RecordRows.ts"
import { SeatRows } from "./SeatRows.ts"
import { type SeatSession, sha256 } from "./SeatSession.ts"
import type { StoredContent } from "./StoredContent.ts"
import { expiryOf } from "./suspend/Expiry.ts"
import { SuspensionRows } from "./suspend/SuspensionRows.ts"
import { BY_FAILURE, makeTurnFailures } from "./turns/TurnFailures.ts"
import { TurnRows } from "./turns/TurnRows.ts"

/** The plan of a seat comes to rest after a few rounds; more are a fault of the program. */
const MAX_ROUNDS = 50

/** The type of a message that was not read. */
export const UNREAD_TYPE = "Message"

/** What a round over the items of a seat leaves behind. */
export interface Worked {
  /** When time alone changes the items, by the database's clock; undefined: only a message does. */
  readonly wakeInMs: number | undefined
  /** Whether every item is closed. */
  readonly isSettled: boolean
  /** Whether an answer may have to be sent. */
  readonly isAnswered: boolean
}

/** An answer with its message, before it is stored. */
export interface Composed {
  readonly content: AnswerContent
  readonly basis: Basis
  readonly item: { readonly id: string; readonly subject: number; readonly proposalHash: string }
  readonly by: Pick<NewAnswer, "origin" | "person" | "delegation" | "proof" | "passkey" | "channel" | "couldHaveSeen">
}

/**
 * The work on the items of one seat: brings them up to the session, and stores answers. Every change is made in a
 * transaction that has locked the seat.
 */
export class SeatWork extends Context.Service<SeatWork, Effect.Success<typeof make>>()("runplane/launcher/SeatWork") {
  static readonly layer = Layer.effect(
    SeatWork,
    Effect.suspend(() => make)
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(OpenLimits.layer, Escalations.layer)),
    Layer.provideMerge(
      AnswerRows.layer.pipe(
        Layer.provideMerge(Layer.mergeAll(SeatRows.layer, ItemRows.layer, SuspensionRows.layer, TurnRows.layer)),
        Layer.provideMerge(
          Layer.mergeAll(RecordRows.layer, AssigneeRows.layer, DelegationRows.layer, EscalationRows.layer)
        ),
        Layer.provideMerge(Persons.layer)
      )
    )
  )
}

const BY_DEADLINE = {
  origin: "deadline",
  person: undefined,
  proof: "none",
  channel: "deadline",
  couldHaveSeen: false
} as const

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const answers = yield* AnswerRows
  const records = yield* RecordRows
  const limits = yield* OpenLimits
  const escalations = yield* Escalations
  const suspensions = yield* SuspensionRows

  /** In a transaction that has the lock of the seat. What it notes for the control plane is posted after it. */
  const locked = <A, E, R>({ row }: Pick<SeatSession, "row">, work: Effect.Effect<A, E, R>) =>
    Effect.tap(sql.withTransaction(Effect.andThen(seats.lock(row.sessionId, row.seat), work)), () => records.wake)

  /** Stores an answer with the exact bytes that go into the session. The caller has the lock. */
  const store = Effect.fnUntraced(function* (session: SeatSession, composed: Composed) {
    const answer = answerOf(session, composed)
    if (answer === undefined) return yield* Effect.die(new Error(`the mode has no act ${composed.content.act}`))
    yield* answers.add(answer)
  })

  const create = Effect.fnUntraced(function* (
    session: SeatSession,
    { follows, replaces, subject }: Extract<ItemChange, { _tag: "create" }>
  ) {
    const { row, view } = session
    const { opening } = view
    const { payload, statement } = subject
    const payloadType = payloadTypeName(row.modeName, statement.type)
    if (opening === undefined || payload === undefined || payloadType === undefined) {
      return yield* Effect.die(new Error(`message ${subject.ordinal} of ${row.sessionId} is not a subject`))
    }
    const { seat, sessionId } = row
    yield* items.create({
      sessionId,
      seat,
      subject: subject.ordinal,
      payload,
      payloadType,
      replaces,
      follows,
      hashed: hashedOf(session, opening, subject)
    })
  })

  const { failTurn, noteLate } = yield* makeTurnFailures(locked, store)

  const apply = Effect.fnUntraced(function* (session: SeatSession, change: ItemChange) {
    const { row, rules, view } = session
    switch (change._tag) {
      case "create":
        return yield* create(session, change)
      case "open":
        yield* items.open(change)
        return row.agent === undefined ? yield* escalations.opened(session, change.id) : undefined
      case "close":
        if (change.state === "expired") yield* noteLate(session, change.id, change.reason)
        return yield* items.close(change)
      case "escalate":
        return yield* escalations.make(session, change.id, change.step, "time")
      case "accept":
        return yield* answers.accept(change.id, change.ordinal, typed(view, change.unseen))
      case "answer": {
        const item = yield* items.byId(change.id)
        if (item === undefined) return
        const content = { act: change.act, reason: change.reason }
        const basis = basisOf(view, row.seat, rules.reveal)
        yield* noteLate(session, change.id, change.reason)
        return yield* store(session, { content, basis, item, by: row.agent === undefined ? BY_DEADLINE : BY_FAILURE })
      }
      case "id-taken": {
        const { by, id } = change
        yield* Effect.logError(takenText(row.sessionId, id, by))
        return yield* answers.renewId(id, by.ordinal)
      }
    }
  })

  /** Brings the items of a seat up to its view. `ended` is the state of a session that is over. */
  const reconcile = Effect.fn("SeatWork.reconcile")(function* (session: SeatSession, ended: string | undefined) {
    const { facts, row, rules, view } = session
    const seat = { id: row.seat, seats: new Set(row.seats), rules, sessionRules: facts.sessionRules }
    const work = Effect.gen(function* () {
      const expiry = yield* expiryOf(suspensions, items.now, session, ended)
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const unixMs = yield* items.now
        const stored = yield* items.ofSeat(row.sessionId, row.seat)
        const { changes: planned, wakeAtUnixMs } = planSeat(view, seat, stored, { unixMs, ended, expiry })
        const { changes, refusal } = yield* limits.admit(row, planned)
        if (changes.length === 0) {
          yield* limits.hold(row, refusal)
          yield* seats.noteOrdinal(row.sessionId, row.seat, view.messages.length)
          return {
            wakeInMs: wakeIn(wakeAtUnixMs === undefined ? undefined : wakeAtUnixMs - unixMs, refusal),
            isSettled: stored.every(({ state }) => isClosed(state)),
            isAnswered: stored.some(({ state }) => state === "answered" || state === "sent")
          } satisfies Worked
        }
        yield* Effect.forEach(changes, (change) => apply(session, change), { discard: true })
      }
      return yield* Effect.die(new Error(`the items of ${row.seat} in ${row.sessionId} do not come to rest`))
    })
    return yield* locked(session, work)
  })

  /** The session is over: the questions that are left take no answer. */
  const withdraw = Effect.fnUntraced(function* (session: SeatSession, state: string) {
    const closeAll = Effect.gen(function* () {
      const expiry = yield* expiryOf(suspensions, items.now, session, state)
      for (const { id, state: was } of yield* items.ofSeat(session.row.sessionId, session.row.seat)) {
        if (was !== "waiting" && was !== "open") continue
        const isExpired = expiry !== undefined && was === "open"
        const reason = expiry ?? `the session is ${state}`
        yield* items.close({ _tag: "close", id, state: isExpired ? "expired" : "withdrawn", reason })
      }
    })
    yield* locked(session, closeAll)
    yield* limits.hold(session.row, undefined)
  })

  return { inTransaction: sql.withTransaction, locked, store, reconcile, withdraw, failTurn }
})

/** The row of an answer with its message; undefined for an act that the mode does not have. */
const answerOf = ({ row, view }: SeatSession, { basis, by, content, item }: Composed): NewAnswer | undefined => {
  const subject = view.messages[item.subject - 1]
  const agent = by.origin === "agent" ? row.agent?.agentRef : undefined
  const line = { person: by.person, agent, item: item.id, proposalHash: item.proposalHash }
  const reason = reasonWithLine(content.reason, line)
  const message = actMessage(row.modeName, view.mode, subject?.statement.proposalId ?? "", content, reason)
  if (message === undefined) return undefined
  const payload = encodePayload(message.payloadType, message.payload)
  return {
    ...by,
    item: item.id,
    content: storedContent(content),
    proposalHash: item.proposalHash,
    basis,
    messageType: message.messageType,
    payload,
    payloadSha256: sha256Hex(sha256, payload)
  }
}

const takenText = (sessionId: string, item: string, { ordinal, statement }: SeenMessage) =>
  `message ${ordinal} of ${sessionId} by ${statement.by} has the id of the answer to item ${item}: ` +
  "it is sent once more under another id"

/** Messages by their ordinals, with their types. */
const typed = ({ messages }: SeatSession["view"], ordinals: ReadonlyArray<number>) =>
  ordinals.map((ordinal) => ({ ordinal, type: messages[ordinal - 1]?.statement.type ?? UNREAD_TYPE }))

/** How soon an item tries again that may not open yet. Milliseconds. */
const HELD_MS = 5_000

const wakeIn = (plannedMs: number | undefined, refusal: string | undefined): number | undefined =>
  refusal === undefined ? plannedMs : Math.min(plannedMs ?? HELD_MS, HELD_MS)

/** The content without members that are undefined. */
const storedContent = ({ act, confidence, reason, recommendation, severity }: AnswerContent): StoredContent => ({
  act,
  reason,
  ...(recommendation !== undefined && { recommendation }),
  ...(confidence !== undefined && { confidence }),
  ...(severity !== undefined && { severity })
})

/** What an item is bound to, for the nonce of its subject. */
const hashedOf =
  ({ facts, row }: SeatSession, opening: SessionOpening, subject: SeenMessage) =>
  (nonce: string) => {
    const members: Hashed = {
      sessionId: row.sessionId,
      mode: row.modeName,
      modeVersion: opening.modeVersion,
      configurationVersion: opening.configurationVersion,
      policyVersion: facts.policyVersion,
      policyHash: facts.policyHash,
      participants: opening.participants,
      subject: {
        messageId: subject.messageId,
        sender: subject.statement.by,
        type: subject.statement.type,
        payloadSha256: subject.payloadSha256,
        nonce
      }
    }
    return { proposalHash: proposalHash(sha256, members), members: JSON.stringify(members) }
  }
