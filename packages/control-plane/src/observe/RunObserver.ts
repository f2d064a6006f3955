import { isTerminal, type RunId } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import type { RunNotFound } from "../event-log/append/AppendRequest.ts"
import { BatchDelay } from "../event-log/append/BatchDelay.ts"
import { FrameBudget } from "../event-log/append/FrameBudget.ts"
import { FramePreparation } from "../event-log/append/FramePreparation.ts"
import { EventLogSettings } from "../event-log/EventLogSettings.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import { type Adoption, decide, observing, takeUp } from "./decide.ts"
import { makeInbox } from "./Inbox.ts"
import { makePerform } from "./interpret.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { RunWriter } from "./RunWriter.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/** Back-off between two attempts of an observer: 500 ms, doubling to 30 s, with jitter. */
export const restarts = Schedule.min([Schedule.exponential("500 millis", 2), Schedule.spaced("30 seconds")]).pipe(
  Schedule.jittered
)

/**
 * Observes one run from where it stands to its end, and returns when nothing is left to observe. What happens is put
 * into one inbox, `decide` says what to do about it, and what is done is awaited before the next is decided. Everything
 * goes through the log's transition table, so whoever sees the end first wins and nobody ends a run twice.
 */
export class RunObserver extends Context.Service<
  RunObserver,
  {
    /** `placed` runs once the run has been found where it stands and is known to be observed. */
    readonly observe: (
      runId: RunId,
      adoption: Adoption,
      placed: Effect.Effect<unknown>
    ) => Effect.Effect<void, RunNotFound | AppendFailed | SqlError>
  }
>()("runplane/control-plane/RunObserver") {
  static readonly layer = Layer.effect(
    RunObserver,
    Effect.gen(function* () {
      const runs = yield* ObservedRuns
      const settings = yield* ObserverSettings
      const directory = yield* SessionDirectory
      const early = yield* EarlySubscriptions
      const writer = yield* RunWriter
      const { recovery } = yield* Metrics
      const makePerformer = yield* makePerform
      const budget = yield* FrameBudget
      const preparation = yield* FramePreparation
      const { appendBytes } = yield* EventLogSettings
      const pace = yield* BatchDelay

      /**
       * Where the run stands; makes known that it is observed again. Undefined when there is nothing left to observe.
       */
      const find = Effect.fnUntraced(function* (runId: RunId, adoption: Adoption) {
        const run = yield* runs.find(runId)
        if (run === undefined || (isTerminal(run.status) && run.cancel === undefined)) return undefined
        yield* Effect.forEach(takeUp(run, adoption), (write) => writer.write(run, write), { discard: true })
        return run
      })

      /** Counts how it went to take a run up again that had been found unfinished. */
      const counted = <A, E, R>(adoption: Adoption, taken: Effect.Effect<A | undefined, E, R>) =>
        adoption !== "recovered"
          ? taken
          : Effect.onExit(taken, (exit) =>
              Effect.sync(() => {
                if (Exit.isFailure(exit)) return Cause.hasInterruptsOnly(exit.cause) ? undefined : recovery("failed")
                return exit.value === undefined ? undefined : recovery("success")
              })
            )

      // Without a span of its own: it would live as long as the run's, which is the parent of what happens here.
      const observe = Effect.fnUntraced(function* (runId: RunId, adoption: Adoption, placed: Effect.Effect<unknown>) {
        // Tried again here and not as a new life, so that a recovery stays one until it has been announced.
        const run = yield* counted(adoption, find(runId, adoption)).pipe(
          Effect.tapError((error) => Effect.logError("the run could not be taken up, trying again", error)),
          Effect.retry(restarts)
        )
        yield* placed
        if (run === undefined) return
        const inbox = yield* makeInbox({
          budget: yield* budget.share,
          appendBytes,
          pace,
          prepare: (frames) => preparation.ahead(runId, frames)
        })
        const perform = yield* makePerformer(run, inbox)
        yield* directory.subscribe(new Set([run.sessionId, runId]), inbox.hear)

        inbox.reply({ _tag: "Started" })
        const known = early.viewOf(run.sessionId)
        if (known !== undefined) inbox.reply({ _tag: "State", ...known })
        // A loop, as thousands of these wait while nothing happens: a stream takes several times as much memory.
        let observation = observing(run, settings)
        while (true) {
          const [next, actions] = decide(observation, { ...(yield* inbox.next), watched: directory.isWatching() })
          observation = next
          for (const action of actions) {
            yield* perform(action)
            if (action._tag === "Finish") return
          }
        }
      }, Effect.scoped)
      return RunObserver.of({ observe })
    })
  )
}
