import { type NotFound, type RunComparison, type RunTraces, runNotFound } from "@runplane/api"
import { RunState, textAt } from "@runplane/domain"
import type { TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { Decisions } from "../decisions/Decisions.ts"
import { ComparedState, compareRuns } from "./RunComparison.ts"

const TracedState = Schema.Struct({ trace: RunState.fields.trace })

/**
 * What can be said about runs from their record and their projection (docs/reference/http.md#compare,
 * docs/reference/http.md#traces).
 */
export class Insights extends Context.Service<
  Insights,
  {
    readonly traces: (reference: string) => Effect.Effect<RunTraces, NotFound | SqlError>
    readonly compare: (
      leftRunId: string,
      rightRunId: string
    ) => Effect.Effect<RunComparison, NotFound | SqlError | TurnRefused>
  }
>()("runplane/control-plane/Insights") {
  static readonly layer = Layer.effect(
    Insights,
    Effect.gen(function* () {
      const states = yield* RunStateReader
      const runs = yield* RunRepository
      const decisions = yield* Decisions

      /** Of the projection, only what is asked for is decoded. */
      const load = Effect.fnUntraced(function* <S>(reference: string, part: Schema.Decoder<S>) {
        const run = yield* runs.find(reference)
        const current = run && (yield* states.current(run.record.id))
        if (run === undefined || current === undefined) return yield* runNotFound(reference)
        const decode = Schema.decodeEffect(Schema.fromJsonString(part))
        return { run, state: yield* Effect.orDie(decode(current.state)) }
      })

      const traces = Effect.fn("Insights.traces")(function* (reference: string) {
        const { run, state } = yield* load(reference, TracedState)
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
        const left = yield* load(leftRunId, ComparedState)
        const sides = compareRuns(left, yield* load(rightRunId, ComparedState))
        const { divergence } = yield* decisions.divergence(leftRunId, rightRunId)
        return { ...sides, divergence }
      })
      return Insights.of({ traces, compare })
    })
  )
}
