import { type EventDraft, streamOpened } from "@runplane/domain"
import { RuntimeClient, type RuntimeError, saysHistoryGone } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type AppendError, type Appended, type ObservedFrame, RunNotFound } from "../events/AppendRequest.ts"
import { EventLog } from "../events/EventLog.ts"
import { EventRepository } from "../events/EventRepository.ts"
import type { ObservedRun } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"

/** Frames of one run that may wait for the log; behind a full buffer HTTP/2 flow control slows the runtime down. */
export const FRAME_BUFFER = 2048
/** Most frames of one append. Fewer whenever fewer are waiting: the batch is whatever came while the last one committed. */
export const FRAMES_PER_APPEND = 500
/** Jitter on top of a back-off pause, at most this share of it (http-details section 5.2). */
const BACKOFF_JITTER = 0.2
/** How long the pump waits before it tries a failed transaction again. */
const APPEND_RETRY_MS = 250
/** Longest back-off while the run's session has ended and only its history is still wanted. */
const DRAIN_BACKOFF_MS = 250

/** The runtime does not let this identity see the session; trying again changes nothing. */
export class ObservationForbidden extends Data.TaggedError("ObservationForbidden")<{ readonly reason: string }> {}

/** What the observer can see and steer while its pump works. */
export interface PumpState {
  /** Ordinal of the last stored session envelope. */
  cursor: number
  connected: boolean
  /** The session's history can no longer be read from where we stand (http-details section 5.2, "Compacted history"). */
  historyGone: boolean
  /** The session has ended: hurry, and do not announce reconnections any more. */
  draining: boolean
  /** Told after each append; holds only the newest. */
  readonly progress: Queue.Queue<number>
  /** Told when the runtime should be asked for the session's state. */
  readonly check: (delayMs: number) => Effect.Effect<void>
}

type Ending =
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Failed"; readonly error: RuntimeError }
  | { readonly _tag: "HistoryGone"; readonly detail: string }
  | { readonly _tag: "Behind" }

/**
 * Carries the envelopes of one session into the log: subscribes after the last stored ordinal, appends whatever has arrived
 * while the previous append committed, and subscribes again whenever the stream ends, for as long as it is let
 * (http-details section 5.2; design rules 2 and 6). Fails only for what no retry can mend: a lost cursor
 * (`StreamCursorMoved`), a vanished run, or a runtime that forbids observing.
 */
export const makeStreamPump = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const log = yield* EventLog
  const events = yield* EventRepository
  const settings = yield* ObserverSettings

  return Effect.fnUntraced(function* (run: ObservedRun, state: PumpState) {
    /** Where the log stands; waits for a database that is away, and fails when the run has been deleted. */
    const readHead = Effect.gen(function* () {
      const head = yield* events.head(run.id).pipe(
        Effect.tapError((error) => Effect.logWarning("cannot read the stream cursor, trying again", error)),
        Effect.retry(Schedule.spaced(APPEND_RETRY_MS)),
        Effect.orDie
      )
      return head ?? (yield* new RunNotFound({ runId: run.id }))
    })

    /** Appends, and on a transaction of unknown outcome looks where the log stands before it tries again. */
    const append = (frames: ReadonlyArray<ObservedFrame>): Effect.Effect<Appended | undefined, AppendError> =>
      log.append({ runId: run.id, frames, cursor: state.cursor }).pipe(
        Effect.catchTag("AppendFailed", (error) =>
          Effect.gen(function* () {
            yield* Effect.logWarning(error.message)
            yield* Effect.sleep(APPEND_RETRY_MS)
            const head = yield* readHead
            if (head.cursor !== state.cursor) return undefined
            return yield* append(frames)
          })
        )
      )

    const store = Effect.fnUntraced(function* (frames: ReadonlyArray<ObservedFrame>) {
      const appended = yield* append(frames)
      if (appended === undefined) return false
      state.cursor = appended.cursor
      Queue.offerUnsafe(state.progress, appended.cursor)
      if (frames.some(({ frame }) => frame.kind === "stream-envelope" && frame.envelope.messageType === "Commitment")) {
        yield* state.check(settings.endCheckDelayMs)
      }
      return true
    })

    /** One subscription, from its first frame to its end. `good` tells whether it delivered anything. */
    const subscribeOnce = Effect.fnUntraced(function* (onGood: () => void) {
      const buffer = yield* Queue.bounded<ObservedFrame, RuntimeError | Cause.Done>(FRAME_BUFFER)
      yield* runtime.streamSession({ sessionId: run.sessionId, afterSequence: state.cursor }).pipe(
        Stream.runForEachArray((chunk) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const receivedAt = new Date(now).toISOString()
            return Queue.offerAll(
              buffer,
              chunk.map(
                (item): ObservedFrame => ({
                  receivedAt,
                  frame:
                    item._tag === "Envelope"
                      ? { kind: "stream-envelope", envelope: item.envelope, ambient: false }
                      : { kind: "stream-inline-error", error: item.error }
                })
              )
            )
          })
        ),
        Effect.matchCauseEffect({
          onSuccess: () => Queue.end(buffer),
          onFailure: (cause) => Queue.failCause(buffer, cause)
        }),
        Effect.forkScoped
      )
      while (true) {
        const taken = yield* Queue.takeBetween(buffer, 1, FRAMES_PER_APPEND).pipe(
          Effect.timeoutOption(settings.streamIdleTimeoutMs),
          Effect.result
        )
        if (taken._tag === "Failure") {
          return (
            Cause.isDone(taken.failure) ? { _tag: "Ended" } : { _tag: "Failed", error: taken.failure }
          ) satisfies Ending
        }
        if (Option.isNone(taken.success)) return { _tag: "Ended" } satisfies Ending
        // Frames of another session, or of none, are not ours (http-details section 5.2).
        const frames = taken.success.value.filter(
          ({ frame }) => frame.kind !== "stream-envelope" || frame.envelope.sessionId === run.sessionId
        )
        const refusal = frames.find(({ frame }) => frame.kind === "stream-inline-error" && isFatal(frame.error.code))
        if (refusal?.frame.kind === "stream-inline-error") {
          const { code, message } = refusal.frame.error
          if (!saysHistoryGone(`${code} ${message}`))
            return yield* new ObservationForbidden({ reason: message || code })
          return { _tag: "HistoryGone", detail: message || code } satisfies Ending
        }
        if (frames.length === 0) continue
        onGood()
        if (!(yield* store(frames))) return { _tag: "Behind" } satisfies Ending
      }
    })

    const announce = (draft: (at: string) => EventDraft) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        log.append({ runId: run.id, events: [draft(new Date(now).toISOString())] })
      ).pipe(Effect.catchTag("AppendFailed", (error) => Effect.logWarning(error.message)))

    const pause = Effect.fnUntraced(function* (attempt: number) {
      const longest = state.draining ? DRAIN_BACKOFF_MS : settings.streamBackoffMaxMs
      const base = Math.min(settings.streamBackoffBaseMs * 2 ** attempt, longest)
      yield* Effect.sleep(base * (1 + BACKOFF_JITTER * (yield* Random.next)))
    })

    /** After the last attempt only a runtime that answers, with a living session, is worth another subscription. */
    const awaitLivingSession = Effect.fnUntraced(function* () {
      let attempt = 0
      while (true) {
        yield* pause(attempt)
        attempt += 1
        const snapshot = yield* Effect.option(runtime.getSession(run.sessionId))
        if (Option.isSome(snapshot) && (snapshot.value.state === "OPEN" || snapshot.value.state === "SUSPENDED")) return
        yield* state.check(0)
      }
    })

    let attempt = 0
    while (true) {
      state.connected = true
      const ending: Ending = yield* Effect.scoped(
        subscribeOnce(() => {
          attempt = 0
        })
      ).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            state.connected = false
          })
        )
      )
      if (ending._tag === "HistoryGone" || (ending._tag === "Failed" && ending.error.historyGone)) {
        const detail = ending._tag === "HistoryGone" ? ending.detail : ending.error.message
        state.historyGone = true
        const requestedAfter = state.cursor
        yield* announce((at) => streamOpened(at, run.sessionId, { status: "gap", detail, requestedAfter }))
        for (let poll = 0; ; poll++) {
          yield* state.check(0)
          yield* pause(poll)
        }
      }
      state.cursor = (yield* readHead).cursor
      if (ending._tag === "Behind") continue
      if (ending._tag === "Failed" && ending.error.reason === "PERMISSION_DENIED") {
        return yield* new ObservationForbidden({ reason: ending.error.message })
      }
      yield* state.check(0)
      if (attempt >= settings.streamMaxRetries) {
        yield* awaitLivingSession()
        attempt = 0
      } else yield* pause(attempt)
      attempt += 1
      if (!state.draining) {
        const detail = ending._tag === "Failed" ? ending.error.message : "stream ended"
        yield* announce((at) => streamOpened(at, run.sessionId, { status: "reconnecting", detail }))
      }
    }
  })
})

const isFatal = (code: string): boolean => /^forbidden:/i.test(code) || saysHistoryGone(code)
