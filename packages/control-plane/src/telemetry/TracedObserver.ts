import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { RunObserver } from "../observer/RunObserver.ts"
import { parentSpan, RunTraces } from "./RunTraces.ts"

/**
 * Puts all that an observer does into the trace of its run: its spans, the `traceparent` of its runtime calls, and the ids in its
 * log lines.
 */
export const layerTracedObserver = Layer.effect(
  RunObserver,
  Effect.gen(function* () {
    const observer = yield* RunObserver
    const traces = yield* RunTraces
    const sampled = yield* References.TracerEnabled
    return RunObserver.of({
      observe: Effect.fnUntraced(function* (runId, adoption) {
        const trace = yield* traces.find(runId)
        const observation = observer.observe(runId, adoption)
        if (trace === undefined) return yield* observation
        const { sessionId, traceId } = trace
        yield* observation.pipe(
          Effect.withParentSpan(parentSpan(trace, sampled)),
          Effect.annotateLogs({ runId, sessionId, traceId })
        )
      })
    })
  })
).pipe(Layer.provide(RunTraces.layer))
