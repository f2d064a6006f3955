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
import { describeSqlError } from "../database/SqlFailures.ts"
import { type AppendError, type Appended, type ObservedFrame, RunNotFound } from "../events/AppendRequest.ts"
import { EventLog } from "../events/EventLog.ts"
import { EventRepository } from "../events/EventRepository.ts"
import { isWrittenByRuntime, type ObservedRun } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import type { PumpState } from "./PumpState.ts"
import { isTerminalSession } from "./RunLifecycle.ts"
import { StreamPlace } from "./StreamPlace.ts"

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
        Effect.tapError((error) =>
          Effect.logWarning(`cannot read the stream cursor, trying again: ${describeSqlError(error)}`)
        ),
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
      state.storing = true
      const appended = yield* append(frames)
      state.storing = false
      if (appended === undefined) return false
      state.cursor = appended.cursor
      const envelopes = frames.flatMap(({ frame }) => (frame.kind === "stream-envelope" ? [frame.envelope] : []))
      for (const envelope of envelopes) {
        if (isWrittenByRuntime(envelope)) state.annotations.add(envelope.messageId)
      }
      Queue.offerUnsafe(state.progress, appended.cursor)
      if (envelopes.some(({ messageType }) => messageType === "Commitment")) {
        yield* state.check(settings.endCheckDelayMs)
      }
      return true
    })

    /** One subscription, from its first frame to its end. */
    const subscribeOnce = Effect.fnUntraced(function* (place: StreamPlace, onGood: () => void) {
      const buffer = yield* Queue.bounded<ObservedFrame, RuntimeError | Cause.Done>(FRAME_BUFFER)
      state.readAgain = () => {
        place.readAgain()
        Queue.endUnsafe(buffer)
      }
      yield* runtime.streamSession({ sessionId: run.sessionId, afterSequence: place.open(state.cursor) }).pipe(
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
        place.passed(frames)
      }
    })

    const announce = (draft: (at: string) => EventDraft) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        log.append({ runId: run.id, events: [draft(new Date(now).toISOString())] })
      ).pipe(Effect.catchTag("AppendFailed", (error) => Effect.logWarning(error.message)))

    const pause = Effect.fnUntraced(function* (attempt: number) {
      const longest = state.draining ? DRAIN_BACKOFF_MS : settings.streamBackoffMaxMs
      const base = Math.min(settings.streamBackoffBaseMs * 2 ** attempt, longest)
      const asleep = Effect.sleep(base * (1 + BACKOFF_JITTER * (yield* Random.next)))
      // A long pause must not outlast the patience of the drain.
      yield* state.draining ? asleep : Effect.raceFirst(asleep, state.hurry.await)
    })

    /**
     * After the last attempt only a runtime that knows the session is worth another subscription. An ended one is too: its
     * history may still be served, and the drain bounds how long it is asked for.
     */
    const awaitKnownSession = Effect.fnUntraced(function* () {
      for (let poll = 0; ; poll++) {
        yield* pause(poll)
        if (state.draining) return
        const snapshot = yield* Effect.option(runtime.getSession(run.sessionId))
        if (Option.isSome(snapshot) && !isTerminalSession(snapshot.value.state)) return
        yield* state.check(0)
        if (Option.isSome(snapshot)) return
      }
    })

    let attempt = 0
    const place = new StreamPlace()
    while (true) {
      state.connected = true
      const ending: Ending = yield* Effect.scoped(
        subscribeOnce(place, () => {
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
        const requestedAfter = state.cursor
        yield* announce((at) => streamOpened(at, run.sessionId, { status: "gap", detail, requestedAfter }))
        // Only now: an ended session is waited for no longer, and the run's end would overtake the mark.
        state.historyGone = true
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
        yield* awaitKnownSession()
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
