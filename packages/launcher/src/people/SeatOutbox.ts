import { backoffMs, unseenBetween } from "@runplane/domain"
import type { ParticipantCalls } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { RunRecords } from "../control-plane/RunRecords.ts"
import { AnswerRows, type DueAnswer } from "./AnswerRows.ts"
import type { SeatSession } from "./SeatSession.ts"
import { SeatWork, UNREAD_TYPE } from "./SeatWork.ts"

/** Pauses between the tries of one message. Milliseconds. */
const SEND_BACKOFF = { firstMs: 500, longestMs: 30_000 }

/** Codes of a refusal after which the same message can still be accepted. */
const PASSING: ReadonlySet<string> = new Set(["RATE_LIMITED", "INTERNAL_ERROR", "UNAUTHENTICATED"])

/** How far the log of the control plane may be behind the runtime. Milliseconds. */
const LOG_LAG_MS = 30_000
/** How long a control plane that is away is waited for before an answer is unknown. Milliseconds. */
const AWAY_FOR_MS = 3_600_000

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
  const { locked } = yield* SeatWork
  const answers = yield* AnswerRows
  const records = yield* RunRecords

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
    // The session is gone: whether the message was accepted before is in the log of the control plane.
    if (code === "SESSION_NOT_FOUND") return
    yield* Effect.logWarning(`the runtime refused the answer to item ${item}: ${text}`)
    yield* locked(session, answers.fail(item, "refused", text))
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

  /**
   * What became of an answer whose session cannot be read any more, by the log of the control plane. Why that is not
   * known yet; undefined once it is settled.
   */
  const lookUp = Effect.fnUntraced(function* (session: SeatSession, answer: DueAnswer, reason: string) {
    const { basis, item, messageId, payloadSha256 } = answer
    const { seat, sessionId } = session.row
    const soughtMs = yield* answers.seek(item)
    const found = yield* Effect.result(records.message(sessionId, messageId))
    if (Result.isFailure(found) && soughtMs < AWAY_FOR_MS) {
      return `the answer to item ${item} cannot be looked up in the log of the control plane: ${found.failure.message}`
    }
    const message = Result.isSuccess(found) ? found.success : undefined
    const isOwn = message?.sender === seat && (message.payloadSha256 ?? payloadSha256) === payloadSha256
    if (message !== undefined && isOwn) {
      const unseen = unseenBetween(basis, message.ordinal).map((ordinal) => ({ ordinal, type: UNREAD_TYPE }))
      yield* locked(session, answers.accept(item, message.ordinal, unseen))
      return undefined
    }
    if (message === undefined && Result.isSuccess(found) && records.isConfigured && soughtMs < LOG_LAG_MS) {
      return `the answer to item ${item} is not in the log of the control plane yet`
    }
    const where = Result.isFailure(found)
      ? `${reason}, and the control plane was away for an hour`
      : message !== undefined
        ? `${reason}, and the log of the control plane has another message of ${message.sender} by its id`
        : records.isConfigured
          ? `${reason}, nor in the log of the control plane`
          : reason
    yield* Effect.logError(`the answer to item ${item} is unknown: ${where}`)
    yield* locked(session, answers.fail(item, "unknown", where))
    return undefined
  })

  /**
   * The session is over, and these answers were neither read in it nor refused: each is looked up. Why one is not
   * settled yet; undefined once all are.
   */
  const loseUnread = Effect.fnUntraced(function* (session: SeatSession, reason: string) {
    const { seat, sessionId } = session.row
    let waiting: string | undefined
    for (const answer of yield* answers.due(sessionId, seat)) {
      waiting = (yield* lookUp(session, answer, reason)) ?? waiting
    }
    return waiting
  })

  /** Whether the runtime has not acknowledged a message yet. */
  const hasUnsent = ({ row }: SeatSession) =>
    Effect.map(answers.due(row.sessionId, row.seat), (due) => due.some(({ state }) => state === "answered"))

  return { deliver, loseUnread, hasUnsent }
})
