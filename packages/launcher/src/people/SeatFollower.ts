import { emptyView, type SeatView, seeEnvelope } from "@runplane/domain"
import { ParticipantClient, type RuntimeError } from "@runplane/runtime"
import { roundWaits } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { AgentTokens } from "../agents/AgentTokens.ts"
import { ItemRows } from "./ItemRows.ts"
import { SeatOutbox } from "./SeatOutbox.ts"
import { type SeatRow, SeatRows } from "./SeatRows.ts"
import { readFacts, rulesOf, type SeatSession, sha256, viewTools } from "./SeatSession.ts"
import { SeatWork, type Worked } from "./SeatWork.ts"
import { Suspensions } from "./suspend/Suspensions.ts"
import { TurnRunner } from "./turns/TurnRunner.ts"

/** How often the state of a session is read: its end is not on its stream. Milliseconds. */
const STATE_POLL_MS = 5_000
/** All seats together read no state more often than this: many seats have longer pauses. Milliseconds. */
const STATE_POLL_ANY_MS = 20
/** How often a session is looked for that is not open yet. Milliseconds. */
const OPEN_POLL_MS = 500
/** A session that is not open after so long never will be. Milliseconds. */
const NEVER_OPENED_MS = 24 * 3_600_000
/**
 * Seats that work on their rows at a time. Without this: when many items open at once, their seats hold every
 * connection of the pool, in a line for one lock, and a read of the inbox waits for them.
 */
const WORKING_SEATS = 4
/** How long the last messages of an ended session may take to arrive. Milliseconds. */
const LAST_MESSAGES_MS = 10_000

const ENDED: ReadonlySet<string> = new Set(["RESOLVED", "CANCELLED", "EXPIRED"])
/** What a runtime says of a history that it has dropped. */
const DROPPED = /history before|HISTORY_UNAVAILABLE/

/** The stream of a session has ended or carries an error: the seat reads it again from the beginning. */
class SessionUnread extends Data.TaggedError("SessionUnread")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** What of a seat is in memory: its session as far as it was read. */
export interface FollowedSeat {
  readonly row: SeatRow
  readonly wakes: Queue.Queue<void>
  /** The last ordinal that was worked on. A view that ends before it is being read again, and decides nothing. */
  reached: number
  session: SeatSession | undefined
  /** The launch has failed: a session that is not open is not waited for. */
  isAbandoned: boolean
  /** How many seats the service runs. */
  readonly ofSeats: () => number
  /** Wakes all seats of its session. */
  readonly wakeSession: Effect.Effect<void>
}

/** Follows the session of a seat, and works on its rows. */
export class SeatFollower extends Context.Service<SeatFollower, Effect.Success<typeof make>>()(
  "runplane/launcher/SeatFollower"
) {
  static readonly layer = Layer.effect(
    SeatFollower,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([SeatOutbox.layer, TurnRunner.layer]))
}

const make = Effect.gen(function* () {
  const agentTurns = yield* TurnRunner
  const rows = yield* SeatRows
  const items = yield* ItemRows
  const work = yield* SeatWork
  const outbox = yield* SeatOutbox
  const turns = yield* Semaphore.make(WORKING_SEATS)
  const suspensions = yield* Suspensions
  const { callsOf, stateOf, stateOrNone } = callsBy(yield* AgentTokens, yield* ParticipantClient)

  /** One reading of a session: until its stream breaks, or the seat is finished. A pause while it is not open. */
  const follow = Effect.fnUntraced(function* (seat: FollowedSeat, finished: Deferred.Deferred<void>) {
    const { row } = seat
    const empty = emptyView(sha256, row.sessionId, row.modeName)
    if (empty === undefined) return yield* Effect.die(new Error(`no seat can be in ${row.modeName}`))
    const calls = yield* callsOf(row)
    const found = yield* Effect.result(calls.getSession(row.sessionId))
    if (Result.isFailure(found)) {
      if (!isNotFound(found.failure)) return yield* found.failure
      const age = (yield* Clock.currentTimeMillis) - row.createdAtUnixMs
      if (row.lastOrdinal === 0 && age < NEVER_OPENED_MS && !seat.isAbandoned) return { pauseMs: OPEN_POLL_MS }
      const session = { row, rules: rulesOf(empty, row), view: empty, facts: NO_FACTS }
      yield* settle(session, row.lastOrdinal === 0 ? "NEVER_OPENED" : "GONE")
      yield* Deferred.succeed(finished, undefined)
      return
    }
    const facts = yield* readFacts(calls, empty, found.success)
    // Items follow the clock of the database.
    const offsetMs = (yield* turns.withPermit(items.now)) - (yield* Clock.currentTimeMillis)
    let view: SeatView = empty
    const publish = Effect.suspend(() => {
      seat.session = { row, rules: rulesOf(view, row), view, facts }
      return Queue.offer(seat.wakes, undefined)
    })
    const read = calls.streamSession({ sessionId: row.sessionId, afterSequence: 0 }).pipe(
      Stream.runForEach((frame) =>
        Effect.gen(function* () {
          if (frame._tag === "InlineError") {
            return yield* new SessionUnread({ reason: `${frame.error.code}: ${frame.error.message}` })
          }
          view = seeEnvelope(viewTools, view, frame.envelope, (yield* Clock.currentTimeMillis) + offsetMs)
          yield* publish
        })
      ),
      Effect.andThen(Effect.fail(new SessionUnread({ reason: "the runtime ended the stream of the session" })))
    )
    yield* publish
    yield* roundWaits
    yield* Effect.raceFirst(read, workOn(seat)).pipe(
      Effect.catchIf(
        ({ message }) => DROPPED.test(message),
        ({ message }) => withoutHistory({ row, rules: rulesOf(empty, row), view: empty, facts }, message)
      )
    )
    yield* Deferred.succeed(finished, undefined)
  })

  /** The runtime has dropped the history of the session: no item takes an answer, and an ended session is settled. */
  const withoutHistory = Effect.fnUntraced(function* (session: SeatSession, reason: string) {
    const { row } = session
    const state = yield* stateOf(row)
    if (!isOver(state)) {
      yield* rows.noteUnavailable(row.sessionId, row.seat, reason)
      return yield* new SessionUnread({ reason })
    }
    yield* outbox.deliver(session, yield* callsOf(row), Effect.succeed(state), "all")
    if (state !== "GONE" && (yield* outbox.hasUnsent(session))) {
      return yield* new SessionUnread({ reason: "an answer is not acknowledged, and the history is gone" })
    }
    yield* settle(session, state)
  })

  /** Works on the rows after each change of the session or of the rows, until nothing is left of the seat. */
  const workOn = Effect.fnUntraced(function* (seat: FollowedSeat) {
    const { row } = seat
    let ended: string | undefined
    let endedAt = 0
    let polledAt = yield* Clock.currentTimeMillis
    while (true) {
      const { session } = seat
      if (session === undefined) return yield* Effect.die(new Error("a seat without a session works"))
      const ordinal = session.view.messages.length
      const worked: Worked = ordinal < seat.reached ? UNREAD : yield* turns.withPermit(work.reconcile(session, ended))
      const calls = yield* callsOf(row)
      const isRead = ended === undefined && ordinal >= seat.reached
      if (isRead) yield* agentTurns.follow(seat)
      const passage = isRead ? yield* suspensions.advance(session, calls, seat.wakeSession) : undefined
      seat.reached = Math.max(seat.reached, ordinal)
      const isDue = worked.isAnswered && passage?.isSuspended !== true
      const due = isDue ? yield* outbox.deliver(session, calls, stateOrNone(row)) : undefined
      const now = yield* Clock.currentTimeMillis
      if (ended !== undefined) {
        // A runtime that does not know the session will not acknowledge a message of it.
        const isSent = ended === "GONE" || !(yield* outbox.hasUnsent(session))
        const isLate = now - endedAt >= LAST_MESSAGES_MS && isSent
        if (worked.isSettled || isLate) return yield* settle(session, ended)
      }
      const pollMs = Math.max(STATE_POLL_MS, seat.ofSeats() * STATE_POLL_ANY_MS)
      const waits = [worked.wakeInMs, due, passage?.wakeInMs, pollMs].filter((ms) => ms !== undefined)
      yield* Effect.timeoutOption(Queue.take(seat.wakes), Math.max(MIN_WAIT_MS, Math.min(...waits)))
      if (ended !== undefined || (yield* Clock.currentTimeMillis) - polledAt < pollMs) continue
      polledAt = yield* Clock.currentTimeMillis
      const polled = yield* stateOf(row)
      if (isOver(polled)) {
        ended = polled
        endedAt = polledAt
      }
    }
  })

  /** The session is over: what is left is withdrawn, answers are looked up elsewhere, and the seat is finished. */
  const settle = Effect.fnUntraced(function* (session: SeatSession, state: string) {
    const { seat, sessionId } = session.row
    yield* work.withdraw(session, state)
    const waiting = yield* outbox.loseUnread(session, `the session is ${state}, and the message was not found in it`)
    if (waiting !== undefined) return yield* new SessionUnread({ reason: waiting })
    yield* agentTurns.end(session.row)
    yield* Effect.andThen(rows.finish(sessionId, seat, state), suspensions.forget(sessionId))
  })

  return { follow }
})

/** The calls of seats at the runtime. */
const callsBy = (tokens: AgentTokens["Service"], client: ParticipantClient["Service"]) => {
  /** The runtime in the name of a seat, with a token that is minted when none of its own is left. */
  const callsOf = ({ modeName, seat }: SeatRow) =>
    Effect.map(
      tokens.tokenFor({ participantId: seat, modeName, isInitiator: false, isSeat: true, minLifeMs: 0 }),
      (token) => client.as(Redacted.make(token))
    )

  /** The state of the session; `GONE` when the runtime does not know it. */
  const stateOf = (row: SeatRow) =>
    Effect.flatMap(callsOf(row), (calls) => calls.getSession(row.sessionId)).pipe(
      Effect.map(({ state }): string => state),
      Effect.catchIf(isNotFound, () => Effect.succeed("GONE"))
    )

  /** The state for a refused message; empty when it cannot be read. */
  const stateOrNone = (row: SeatRow) => Effect.orElseSucceed(stateOf(row), () => "")

  return { callsOf, stateOf, stateOrNone }
}

/** The shortest wait between two looks at the rows. Milliseconds. */
const MIN_WAIT_MS = 20

/** Nothing is known of the items while the session is read again. */
const UNREAD: Worked = { wakeInMs: undefined, isSettled: false, isAnswered: true }

const isOver = (state: string): boolean => ENDED.has(state) || state === "GONE"

const NO_FACTS = { policyVersion: "", policyHash: null, sessionRules: undefined }

const isNotFound = (error: { readonly _tag: string } | RuntimeError): boolean =>
  error._tag === "RuntimeError" && "reason" in error && error.reason === "NOT_FOUND"
