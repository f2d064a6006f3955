import { type NotFound, type RunComparison, type RunTraces, runNotFound } from "@runplane/api"
import { RunState, textAt } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { RunDocuments } from "../runs/RunDocuments.ts"
import { RunRepository } from "../runs/RunRepository.ts"
import { type ComparedRun, compareRuns } from "./RunComparison.ts"

const decodeState = Schema.decodeEffect(Schema.fromJsonString(RunState))

/** What can be said about runs from their record and their projection (http-details sections 4.8 and 4.10). */
export class Insights extends Context.Service<
  Insights,
  {
    readonly traces: (reference: string) => Effect.Effect<RunTraces, NotFound>
    readonly compare: (leftRunId: string, rightRunId: string) => Effect.Effect<RunComparison, NotFound>
  }
>()("runplane/control-plane/Insights") {
  static readonly layerNoDeps = Layer.effect(
    Insights,
    Effect.gen(function* () {
      const documents = yield* RunDocuments
      const runs = yield* RunRepository

      const load = Effect.fnUntraced(function* (reference: string) {
        const run = yield* Effect.orDie(runs.find(reference))
        const text = run && (yield* Effect.orDie(documents.state(run.record.id)))
        if (run === undefined || text === undefined) return yield* runNotFound(reference)
        return { run, state: yield* Effect.orDie(decodeState(text)) } satisfies ComparedRun
      })

      const traces = Effect.fn("Insights.traces")(function* (reference: string) {
        const { run, state } = yield* load(reference)
        const { metadata, sourceRef, status, traceId } = run.record
        const scenarioRef = sourceRef ?? textAt(metadata, "scenarioRef")
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
      const compare = Effect.fn("Insights.compare")(function* (leftRunId: string, rightRunId: string) {
        return compareRuns(yield* load(leftRunId), yield* load(rightRunId))
      })
      return Insights.of({ traces, compare })
    })
  )
}
