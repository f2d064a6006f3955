import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import type * as Tracer from "effect/Tracer"
import { parentSpan, type RunTrace, RunTraces } from "../event-log/runs/RunTraces.ts"
import type { Adoption } from "./decide.ts"
import { RunObserver } from "./RunObserver.ts"

/**
 * Puts all that an observer does into the trace of its run: its spans, the `traceparent` of its runtime calls, and the
 * ids in its log lines.
 *
 * A run outlives processes, a span cannot. So `run.lifecycle` is known by ids that are stored with the run: whatever
 * happens while the run is alive is its child, in every process, and whoever sees the run's end records it
 * (`LifecycleSpan`). How long each process had the run in its care is a child as well, `run.observation`, which says
 * how that ended: `ended` with the run, `interrupted` by a shutdown or a hand-over, or `failed`, before a restart of
 * the observer.
 */
export const layerTracedObserver = Layer.effect(
  RunObserver,
  Effect.gen(function* () {
    const observer = yield* RunObserver
    const traces = yield* RunTraces
    const sampled = yield* References.TracerEnabled
    return RunObserver.of({
      observe: Effect.fnUntraced(function* (runId, adoption, placed) {
        const trace = yield* traces
          .find(runId)
          .pipe(Effect.tapError((error) => Effect.logError("the trace of a run was not found, trying again", error)))
        const observation = observer.observe(runId, adoption, placed)
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

/** Records the time in which this process observed the run, beside what happens in it and not around it. */
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
