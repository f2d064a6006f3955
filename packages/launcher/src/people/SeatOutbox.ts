import * as PgClient from "@effect/sql-pg/PgClient"
import { backoffMs } from "@runplane/domain"
import type { ParticipantCalls } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { AnswerRows, type DueAnswer } from "./AnswerRows.ts"
import { SeatRows } from "./SeatRows.ts"
import type { SeatSession } from "./SeatSession.ts"

/** Pauses between the tries of one message. Milliseconds. */
const SEND_BACKOFF = { firstMs: 500, longestMs: 30_000 }

/** Codes of a refusal after which the same message can still be accepted. */
const PASSING: ReadonlySet<string> = new Set(["RATE_LIMITED", "INTERNAL_ERROR", "UNAUTHENTICATED"])

const ENDED: ReadonlySet<string> = new Set(["RESOLVED", "CANCELLED", "EXPIRED", "GONE"])

/**
 * The messages of a seat that are not settled. Each is sent until the runtime knows it, always under the same id; it is
 * accepted once it is read in the session.
 */
export class SeatOutbox extends Context.Service<SeatOutbox, Effect.Success<typeof make>>()(
  "runplane/launcher/SeatOutbox"
) {
  static readonly layer = Layer.effect(
    SeatOutbox,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const seats = yield* SeatRows
  const answers = yield* AnswerRows

  /** In a transaction that has the lock of the seat. */
  const locked = <A, E, R>({ row }: SeatSession, work: Effect.Effect<A, E, R>) =>
    sql.withTransaction(Effect.andThen(seats.lock(row.sessionId, row.seat), work))

  /** Sends one message, and notes what the runtime answers. `stateOf` is read after a refusal for the state. */
  const send = Effect.fnUntraced(function* (
    session: SeatSession,
    calls: ParticipantCalls,
    stateOf: Effect.Effect<string>,
    answer: DueAnswer
  ) {
    const { item, messageId, messageType, payload, sends } = answer
    const { modeName, sessionId } = session.row
    yield* answers.postpone(item, backoffMs(SEND_BACKOFF, sends))
    const timestampUnixMs = yield* Clock.currentTimeMillis
    const envelope = { sessionId, mode: modeName, messageType, messageId, timestampUnixMs, payload }
    const ack = yield* Effect.result(calls.send(envelope))
    if (Result.isFailure(ack)) {
      yield* Effect.logWarning(`the answer to item ${item} is not acknowledged, trying again: ${ack.failure.message}`)
      return
    }
    const { error, ok } = ack.success
    if (ok) {
      if (answer.state === "answered") yield* locked(session, answers.sent(item))
      return
    }
    const code = error?.code ?? ""
    const text = `${code}: ${error?.message ?? "the runtime gave no reason"}`
    if (PASSING.has(code)) {
      yield* Effect.logWarning(`the answer to item ${item} is not accepted yet, trying again: ${text}`)
      return
    }
    // Duplicates are found before the state: the message is not in the session. A suspended session may go on.
    if (code === "SESSION_NOT_OPEN" && !ENDED.has(yield* stateOf)) return
    yield* Effect.logWarning(`the runtime refused the answer to item ${item}: ${text}`)
    const outcome = code === "SESSION_NOT_FOUND" ? "unknown" : "refused"
    yield* locked(session, answers.fail(item, outcome, text))
  })

  /** Sends the messages that are due, or all. Returns when the next one is, milliseconds; undefined without any. */
  const deliver = Effect.fn("SeatOutbox.deliver")(function* (
    session: SeatSession,
    calls: ParticipantCalls,
    stateOf: Effect.Effect<string>,
    which: "due" | "all" = "due"
  ) {
    const { seat, sessionId } = session.row
    for (const answer of yield* answers.due(sessionId, seat)) {
      if (which === "all" || answer.dueInMs <= 0) yield* send(session, calls, stateOf, answer)
    }
    const [next] = yield* answers.due(sessionId, seat)
    return next?.dueInMs
  })

  /** The session is over, and these answers were neither read in it nor refused. */
  const loseUnread = Effect.fnUntraced(function* (session: SeatSession, reason: string) {
    const { seat, sessionId } = session.row
    for (const { item } of yield* answers.due(sessionId, seat)) {
      yield* Effect.logError(`the answer to item ${item} is unknown: ${reason}`)
      yield* locked(session, answers.fail(item, "unknown", reason))
    }
  })

  /** Whether the runtime has not acknowledged a message yet. */
  const hasUnsent = ({ row }: SeatSession) =>
    Effect.map(answers.due(row.sessionId, row.seat), (due) => due.some(({ state }) => state === "answered"))

  return { deliver, loseUnread, hasUnsent }
})
