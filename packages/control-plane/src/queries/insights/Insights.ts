import { type NotFound, type RunComparison, type RunTraces, runNotFound } from "@runplane/api"
import { RunState, textAt } from "@runplane/domain"
import type { TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { EventLog } from "../../event-log/EventLog.ts"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { beginning, emptyProjected, foldOn, projectAndMeasure } from "../../event-log/projection/ReplayLog.ts"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunAdministration } from "../../event-log/runs/RunAdministration.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import type { DatabaseFailure } from "../../platform/http/OutageAnswers.ts"
import { Decisions } from "../decisions/Decisions.ts"
import { ComparedState, compareRuns } from "./RunComparison.ts"

/**
 * `POST /runs/:id/projection/rebuild` (docs/reference/http.md#rebuild). Most of the log is folded without
 * a lock; the run is locked for the fold of the new events and the replacement of the projection and counters. The
 * revision of the head increases, so that no process uses a cached projection.
 */
export class ProjectionRebuild extends Context.Service<
  ProjectionRebuild,
  {
    /** The JSON of the response: `rebuilt`, `latestSeq`, and all keys of the state. */
    readonly rebuild: (reference: string, caller: Caller) => Effect.Effect<string, NotFound | DatabaseFailure>
  }
>()("runplane/control-plane/ProjectionRebuild") {
  static readonly layer = Layer.effect(
    ProjectionRebuild,
    Effect.gen(function* () {
      const audit = yield* AuditTrail
      const events = yield* EventRepository
      const log = yield* EventLog
      const runs = yield* RunRepository
      const upkeep = yield* RunAdministration

      const rebuild = Effect.fn("ProjectionRebuild.rebuild")(function* (reference: string, caller: Caller) {
        const runId = yield* runs.resolve(reference)
        if (runId === undefined) return yield* runNotFound(reference)
        const before = yield* foldOn(events, runId, beginning(emptyProjected(runId)), projectAndMeasure)

        const refold = Effect.fnUntraced(function* (lastSeq: number) {
          const whole = yield* foldOn(events, runId, before, projectAndMeasure)
          if (whole.lastSeq === lastSeq) return whole.folded
          return yield* Effect.die(new Error(`the log ends at ${whole.lastSeq}, its head says ${lastSeq}`))
        })
        const also = Effect.fnUntraced(function* (at: string) {
          yield* upkeep.raiseRevision(runId)
          yield* audit.record({ caller, action: "run.rebuild", resource: "run", resourceId: runId, details: {}, at })
        })
        const { lastSeq, state } = yield* log
          .rebuild({ runId, refold, also })
          .pipe(Effect.catchTag("RunNotFound", () => Effect.fail(runNotFound(reference))))
        return `{"rebuilt":true,"latestSeq":${lastSeq},${JSON.stringify(state).slice(1)}`
      })
      return ProjectionRebuild.of({ rebuild })
    })
  )
}

const TracedState = Schema.Struct({ trace: RunState.fields.trace })

/** Comparisons and traces of runs (docs/reference/http.md#compare, docs/reference/http.md#traces). */
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

      /** Decodes only the needed fields of the projection. */
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
