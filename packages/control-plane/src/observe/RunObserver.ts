import { isTerminal, type RunId } from "@runplane/domain"
import { jitteredBackoff } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import type { SqlError } from "effect/sql/SqlError"
import type * as Tracer from "effect/Tracer"
import type { RunNotFound } from "../event-log/append/AppendRequest.ts"
import { BatchDelay } from "../event-log/append/BatchDelay.ts"
import { FrameBudget } from "../event-log/append/FrameBudget.ts"
import { EventLogSettings } from "../event-log/EventLogSettings.ts"
import { parentSpan, type RunTrace, RunTraces } from "../event-log/runs/RunTraces.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import { type Adoption, decide, observing, writesBefore } from "./decide.ts"
import { makePerform } from "./interpret.ts"
import { makeMailbox } from "./Mailbox.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { RunWriter } from "./RunWriter.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/** Back-off between two attempts of an observer. */
export const restarts = jitteredBackoff(500, 30_000)

/**
 * Observes one run to its end. Messages arrive in one mailbox, `decide` returns the actions for each, and the observer
 * performs them before the next message. The log's transition table allows only one end of a run.
 */
export class RunObserver extends Context.Service<
  RunObserver,
  {
    /** `ready` runs once the run has been read, and its adoption is written. */
    readonly observe: (
      runId: RunId,
      adoption: Adoption,
      ready: Effect.Effect<unknown>
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
      const { appendBytes } = yield* EventLogSettings
      const delay = yield* BatchDelay

      /**
       * Reads the run, and writes that it is observed again. Undefined when the run needs no observer.
       */
      const find = Effect.fnUntraced(function* (runId: RunId, adoption: Adoption) {
        const run = yield* runs.find(runId)
        if (run === undefined || (isTerminal(run.status) && run.cancel === undefined)) return undefined
        yield* Effect.forEach(writesBefore(run, adoption), (write) => writer.write(run, write), { discard: true })
        return run
      })

      /** Counts the recoveries of unfinished runs. */
      const counted = <A, E, R>(adoption: Adoption, recovered: Effect.Effect<A | undefined, E, R>) =>
        adoption !== "recovered"
          ? recovered
          : Effect.onExit(recovered, (exit) =>
              Effect.sync(() => {
                if (Exit.isFailure(exit)) return Cause.hasInterruptsOnly(exit.cause) ? undefined : recovery("failed")
                return exit.value === undefined ? undefined : recovery("success")
              })
            )

      // Without its own span, which would last as long as the run's, its parent.
      const observe = Effect.fnUntraced(function* (runId: RunId, adoption: Adoption, ready: Effect.Effect<unknown>) {
        // Retries here and not in `restarts`, so that a recovery stays one until it is announced.
        const run = yield* counted(adoption, find(runId, adoption)).pipe(
          Effect.tapError((error) => Effect.logError("the run could not be adopted, trying again", error)),
          Effect.retry(restarts)
        )
        yield* ready
        if (run === undefined) return
        const mailbox = yield* makeMailbox({
          budget: yield* budget.share,
          appendBytes,
          delay
        })
        const perform = yield* makePerformer(run, mailbox)
        yield* directory.subscribe(new Set([run.sessionId, runId]), mailbox.update)

        mailbox.reply({ _tag: "Started" })
        const known = early.viewOf(run.sessionId)
        if (known !== undefined) mailbox.reply({ _tag: "State", ...known })
        // A loop, because thousands of observers wait here and a stream takes several times the memory.
        let observation = observing(run, settings)
        while (true) {
          const [next, actions] = decide(observation, { ...(yield* mailbox.next), watched: directory.isWatching() })
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

/**
 * Adds the observer to the trace of its run: its spans, the `traceparent` of its runtime calls, and the ids in its log
 * lines.
 *
 * A run outlives processes, a span cannot. So the ids of `run.lifecycle` are stored with the run: the spans of every
 * process are its children, and the process that ends the run records it (`LifecycleSpan`). A child `run.observation`
 * covers the time of each process, with its outcome: `ended` with the run, `interrupted` by a shutdown or a move of the
 * shard, or `failed` before a restart of the observer.
 */
export const layerTracedObserver = Layer.effect(
  RunObserver,
  Effect.gen(function* () {
    const observer = yield* RunObserver
    const traces = yield* RunTraces
    const sampled = yield* References.TracerEnabled
    return RunObserver.of({
      observe: Effect.fnUntraced(function* (runId, adoption, ready) {
        const trace = yield* traces
          .find(runId)
          .pipe(Effect.tapError((error) => Effect.logError("the trace of a run was not found, trying again", error)))
        const observation = observer.observe(runId, adoption, ready)
        if (trace === undefined) return yield* observation
        const { sessionId, traceId } = trace
        const parent = parentSpan(trace, sampled)
        yield* observation.pipe(
          recorded(trace, adoption, parent),
          Effect.tapCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : Effect.logError("the observer failed and will be restarted", cause)
          ),
          Effect.withParentSpan(parent),
          Effect.annotateLogs({ runId, sessionId, traceId })
        )
      })
    })
  })
)

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): "ended" | "failed" | "interrupted" => {
  if (Exit.isSuccess(exit)) return "ended"
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "failed"
}

/** Records the time in which this process observed the run, as a sibling of the spans in it. */
const recorded =
  (trace: RunTrace, adoption: Adoption, parent: Tracer.AnySpan) =>
  <A, E, R>(observation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const span = yield* Effect.makeSpan("run.observation", {
        parent,
        attributes: { run_id: trace.runId, session_id: trace.sessionId, "run.adoption": adoption }
      })
      return yield* Effect.onExit(observation, (exit) =>
        Effect.map(Clock.currentTimeNanos, (now) => {
          span.attribute("run.observation.outcome", outcomeOf(exit))
          span.end(now, exit)
        })
      )
    })
