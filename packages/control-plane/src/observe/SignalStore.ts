import { isoTime, type RunId, streamOpened } from "@runplane/domain"
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ObservedFrame, RunNotFound } from "../event-log/append/AppendRequest.ts"
import { EventLog } from "../event-log/EventLog.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { outagePauses, retryOnOutage } from "./retryOnOutage.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { shownSessionId } from "./SessionIds.ts"

/** Sessions whose run is cached. */
const REMEMBERED_SESSIONS = 10_000
const SESSIONS_PER_QUERY = 500
/** Retries of a signal that cannot be stored although the database is available. */
const RETRIES = 4
/** Runs that are marked concurrently. */
const MARKS_AT_ONCE = 16

/** The signal itself causes a defect. */
class Poisoned extends Data.TaggedError("Poisoned")<{ readonly defect: unknown }> {}

/** Stores ambient signals in the runs of their sessions (docs/internals/runtime.md#signals). */
export class SignalStore extends Context.Service<
  SignalStore,
  {
    /**
     * Stores signals of one session, in their order. Waits while the database is away. Only a signal that cannot be
     * stored is lost: it is logged, counted and marked. Signals of a session without a run are dropped.
     */
    readonly store: (sessionId: string, signals: NonEmptyReadonlyArray<ObservedFrame>) => Effect.Effect<void>
    /** Marks lost signals in the run of a session, running or over; the detail says which. */
    readonly note: (sessionId: string, detail: string) => Effect.Effect<void>
    /** Marks the unfinished runs of sessions whose signals may be lost. */
    readonly mark: (sessionIds: ReadonlyArray<string>, detail: string) => Effect.Effect<void>
  }
>()("runplane/control-plane/SignalStore") {
  static readonly layer = Layer.effect(
    SignalStore,
    Effect.gen(function* () {
      const runs = yield* ObservedRuns
      const log = yield* EventLog
      const discovery = yield* SessionDiscovery
      const metrics = yield* Metrics
      const remembered = new Map<string, RunId>()

      const readRun = (sessionId: string) => Effect.map(retryOnOutage(runs.ofSession(sessionId)), (run) => run?.runId)

      const runOf = Effect.fnUntraced(function* (sessionId: string) {
        const known = remembered.get(sessionId)
        if (known !== undefined) return known
        let found = yield* readRun(sessionId)
        if (found === undefined && discovery.isExpected(sessionId)) {
          yield* discovery.settled(sessionId)
          found = yield* readRun(sessionId)
        }
        if (found === undefined) return undefined
        if (remembered.size >= REMEMBERED_SESSIONS) remembered.clear()
        remembered.set(sessionId, found)
        return found
      })

      const noteIn = (runId: RunId, sessionId: string, detail: string) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          retryOnOutage(
            log.record({
              runId,
              events: [streamOpened(isoTime(now), sessionId, { status: "gap", detail })]
            })
          )
        ).pipe(
          Effect.catchTag("RunNotFound", () => Effect.void),
          Effect.catchCause((cause) => Effect.logError(`could not mark run ${runId}: ${detail}`, cause))
        )

      const append = (runId: RunId, frames: ReadonlyArray<ObservedFrame>) =>
        retryOnOutage(Effect.catchDefect(log.observe({ runId, frames }), (defect) => new Poisoned({ defect }))).pipe(
          Effect.catchTag("StreamCursorMoved", Effect.die)
        )

      const giveUp = Effect.fnUntraced(function* (runId: RunId, sessionId: string, error: AppendFailed | Poisoned) {
        metrics.signalLost()
        yield* Effect.logError(`lost a signal of session ${shownSessionId(sessionId)}, which cannot be stored`, error)
        yield* noteIn(runId, sessionId, "a signal could not be stored")
      })

      /** A batch that cannot be stored is halved; a single signal that cannot be stored is given up. */
      const storeIn = (
        runId: RunId,
        sessionId: string,
        signals: ReadonlyArray<ObservedFrame>
      ): Effect.Effect<void, RunNotFound> => {
        if (signals.length > 1) {
          const middle = Math.ceil(signals.length / 2)
          const halves = Effect.andThen(
            storeIn(runId, sessionId, signals.slice(0, middle)),
            storeIn(runId, sessionId, signals.slice(middle))
          )
          return Effect.catchTags(Effect.asVoid(append(runId, signals)), {
            AppendFailed: () => halves,
            Poisoned: () => halves
          })
        }
        return append(runId, signals).pipe(
          Effect.retry({ schedule: outagePauses, times: RETRIES, while: ({ _tag }) => _tag === "AppendFailed" }),
          Effect.asVoid,
          Effect.catchTags({
            AppendFailed: (error) => giveUp(runId, sessionId, error),
            Poisoned: (error) => giveUp(runId, sessionId, error)
          })
        )
      }

      const store = (sessionId: string, signals: NonEmptyReadonlyArray<ObservedFrame>): Effect.Effect<void> =>
        Effect.gen(function* () {
          const runId = yield* runOf(sessionId)
          if (runId === undefined) return
          // The cached run was deleted; the session may have a new one.
          yield* Effect.catchTag(storeIn(runId, sessionId, signals), "RunNotFound", () => {
            remembered.delete(sessionId)
            return store(sessionId, signals)
          })
        }).pipe(
          Effect.catchCause((cause) => {
            for (const _ of signals) metrics.signalLost()
            return Effect.logError(`lost ${signals.length} signals of session ${shownSessionId(sessionId)}`, cause)
          })
        )

      const mark = Effect.fnUntraced(
        function* (sessionIds: ReadonlyArray<string>, detail: string) {
          for (let from = 0; from < sessionIds.length; from += SESSIONS_PER_QUERY) {
            const found = yield* runs.ofSessions(sessionIds.slice(from, from + SESSIONS_PER_QUERY)).pipe(retryOnOutage)
            const open = [...found].filter(([, run]) => run.isUnfinished)
            yield* Effect.forEach(open, ([sessionId, { runId }]) => noteIn(runId, sessionId, detail), {
              concurrency: MARKS_AT_ONCE,
              discard: true
            })
          }
        },
        Effect.catchCause((cause) => Effect.logError("could not mark the runs whose signals are lost", cause))
      )

      const note = Effect.fnUntraced(
        function* (sessionId: string, detail: string) {
          const runId = yield* runOf(sessionId)
          if (runId !== undefined) yield* noteIn(runId, sessionId, detail)
        },
        (effect, sessionId) =>
          Effect.catchCause(effect, (cause) =>
            Effect.logError(`could not mark the run of session ${shownSessionId(sessionId)}`, cause)
          )
      )

      return SignalStore.of({ store, note, mark })
    })
  )
}
