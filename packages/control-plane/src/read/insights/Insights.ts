import { type NotFound, type RunComparison, type RunTraces, runNotFound } from "@runplane/api"
import { RunState, textAt } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { RunStates } from "../../log/RunStates.ts"
import { RunRepository } from "../../log/runs/RunRepository.ts"
import { Decisions } from "../decisions/Decisions.ts"
import { type ComparedRun, compareRuns } from "./RunComparison.ts"

const decodeState = Schema.decodeEffect(Schema.fromJsonString(RunState))

/** What can be said about runs from their record and their projection (docs/http.md#compare, docs/http.md#traces). */
export class Insights extends Context.Service<
  Insights,
  {
    readonly traces: (reference: string) => Effect.Effect<RunTraces, NotFound | SqlError>
    readonly compare: (leftRunId: string, rightRunId: string) => Effect.Effect<RunComparison, NotFound | SqlError>
  }
>()("runplane/control-plane/Insights") {
  static readonly layer = Layer.effect(
    Insights,
    Effect.gen(function* () {
      const states = yield* RunStates
      const runs = yield* RunRepository
      const decisions = yield* Decisions

      const load = Effect.fnUntraced(function* (reference: string) {
        const run = yield* runs.find(reference)
        const current = run && (yield* states.current(run.record.id))
        if (run === undefined || current === undefined) return yield* runNotFound(reference)
        return { run, state: yield* Effect.orDie(decodeState(current.state)) } satisfies ComparedRun
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
        const sides = compareRuns(yield* load(leftRunId), yield* load(rightRunId))
        const { divergence } = yield* decisions.divergence(leftRunId, rightRunId)
        return { ...sides, divergence }
      })
      return Insights.of({ traces, compare })
    })
  )
}
