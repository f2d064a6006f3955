import type { NotFound, RunTraces } from "@runplane/api"
import { launchedScenarioOf, RunState } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { makeRunWithState } from "../RunWithState.ts"

const TracedState = Schema.Struct({ trace: RunState.fields.trace })

/** Traces of runs (docs/reference/runs.md#traces). */
export class TraceReports extends Context.Service<
  TraceReports,
  {
    readonly traces: (reference: string) => Effect.Effect<RunTraces, NotFound | SqlError>
  }
>()("runplane/control-plane/TraceReports") {
  static readonly layer = Layer.effect(
    TraceReports,
    Effect.gen(function* () {
      const load = yield* makeRunWithState

      const traces = Effect.fn("TraceReports.traces")(function* (reference: string) {
        const { run, state } = yield* load(reference, TracedState)
        const { status, traceId } = run.record
        const scenarioRef = launchedScenarioOf(run.record)
        const { lastSpanId, linkedArtifacts, spanCount } = state.trace
        return {
          traceId: state.trace.traceId ?? traceId,
          spanCount,
          ...(lastSpanId !== undefined && { lastSpanId }),
          linkedArtifacts,
          runStatus: status,
          ...(scenarioRef !== undefined && { scenarioRef })
        }
      })
      return TraceReports.of({ traces })
    })
  )
}
