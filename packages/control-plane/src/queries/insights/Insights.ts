import { type Conflict, type NotFound, type RunComparison, type RunTraces, runNotFound } from "@runplane/api"
import { launchedScenarioOf, RunState } from "@runplane/domain"
import { makeLongTurns, type TurnRefused } from "@runplane/server"
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
import type { StoredRun } from "../../event-log/runs/RunRow.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import type { DatabaseFailure } from "../../platform/http/OutageAnswers.ts"
import { DecisionReader } from "../decisions/DecisionReader.ts"
import { Decisions } from "../decisions/Decisions.ts"

/** The fields of a projection that are compared. */
export const ComparedState = Schema.Struct({
  participants: Schema.Array(Schema.Struct({ participantId: Schema.String })),
  signals: Schema.Struct({ signals: Schema.Array(Schema.Struct({ name: Schema.String })) }),
  decision: Schema.Struct({
    current: Schema.optionalKey(Schema.Struct({ confidence: Schema.optionalKey(Schema.Number) }))
  }),
  llm: Schema.Struct({ totals: RunState.fields.llm.fields.totals })
})

/** A run with the compared fields of its projection. */
export interface ComparedRun {
  readonly run: StoredRun
  readonly state: typeof ComparedState.Type
}

/** Two runs side by side: added, removed and changed in the right one (docs/reference/runs.md#compare). */
export const compareRuns = (left: ComparedRun, right: ComparedRun): Omit<RunComparison, "divergence"> => {
  const [leftMs, rightMs] = [durationOf(left), durationOf(right)]
  const [leftConfidence, rightConfidence] = [confidenceOf(left), confidenceOf(right)]
  const participants = difference(participantsOf(left), participantsOf(right))
  const { added, removed } = difference(signalsOf(left), signalsOf(right))
  return {
    left: summaryOf(left),
    right: summaryOf(right),
    statusMatch: left.run.record.status === right.run.record.status,
    ...(leftMs !== undefined && rightMs !== undefined && { durationDeltaMs: rightMs - leftMs }),
    ...(leftConfidence !== undefined &&
      rightConfidence !== undefined && { confidenceDelta: rightConfidence - leftConfidence }),
    participantsDiff: participants,
    signalsDiff: { added, removed }
  }
}

const summaryOf = (side: ComparedRun): RunComparison["left"] => {
  const { modeName, record } = side.run
  const durationMs = durationOf(side)
  const usage = usageOf(side)
  return {
    runId: record.runId,
    status: record.status,
    ...(modeName !== "" && { modeName }),
    ...(durationMs !== undefined && { durationMs }),
    ...(usage !== undefined && { usage })
  }
}

/** Tokens and cost of the run; undefined without a call of a language model. */
const usageOf = ({ state }: ComparedRun): RunComparison["left"]["usage"] => {
  const { callCount, callsWithoutUsage, estimatedCostUsd, guessedCostUsd, totalTokens } = state.llm.totals
  if (callCount === 0) return undefined
  return {
    totalTokens,
    estimatedCostUsd,
    ...(guessedCostUsd !== undefined && { guessedCostUsd }),
    ...(callsWithoutUsage !== undefined && { callsWithoutUsage })
  }
}

/** Milliseconds from start to end; undefined while the run has not ended. */
const durationOf = ({ run: { record } }: ComparedRun): number | undefined =>
  record.startedAt === undefined || record.endedAt === undefined
    ? undefined
    : Math.max(0, Date.parse(record.endedAt) - Date.parse(record.startedAt))

const confidenceOf = ({ state }: ComparedRun): number | undefined => state.decision.current?.confidence

const participantsOf = ({ state }: ComparedRun): ReadonlySet<string> =>
  new Set(state.participants.map((participant) => participant.participantId))

const signalsOf = ({ state }: ComparedRun): ReadonlySet<string> =>
  new Set(state.signals.signals.map((signal) => signal.name))

const difference = (left: ReadonlySet<string>, right: ReadonlySet<string>) => ({
  added: [...right].filter((item) => !left.has(item)),
  removed: [...left].filter((item) => !right.has(item)),
  common: [...left].filter((item) => right.has(item))
})

/** Rebuilds of one caller at a time. */
const REBUILDS_AT_ONCE = 2

/**
 * `POST /runs/:id/projection/rebuild` (docs/reference/runs.md#rebuild). Most of the log is folded without
 * a lock; the run is locked for the fold of the new events and the replacement of the projection and counters. The
 * revision of the head increases, so that no process uses a cached projection.
 */
export class ProjectionRebuild extends Context.Service<
  ProjectionRebuild,
  {
    /** The JSON of the response: `rebuilt`, `latestSeq`, and all keys of the state. */
    readonly rebuild: (
      reference: string,
      caller: Caller
    ) => Effect.Effect<string, Conflict | NotFound | DatabaseFailure>
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

      const turns = makeLongTurns("rebuilds", REBUILDS_AT_ONCE)

      const rebuildInTurn = Effect.fnUntraced(function* (reference: string, caller: Caller) {
        const runId = yield* runs.resolve(reference)
        if (runId === undefined) return yield* runNotFound(reference)
        const before = yield* foldOn(events, runId, beginning(emptyProjected(runId)), projectAndMeasure)

        const refold = Effect.fnUntraced(function* (lastSeq: number) {
          const whole = yield* foldOn(events, runId, before, projectAndMeasure)
          if (whole.lastSeq !== lastSeq) {
            return yield* Effect.die(new Error(`the log ends at ${whole.lastSeq}, its head says ${lastSeq}`))
          }
          const { metrics, state } = whole.folded
          yield* upkeep.noteRebuild(runId, { metrics, intent: state.run.intent })
          return whole.folded
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
      const rebuild = Effect.fn("ProjectionRebuild.rebuild")((reference: string, caller: Caller) =>
        turns.goOn(rebuildInTurn(reference, caller))
      )
      return ProjectionRebuild.of({ rebuild })
    })
  )
}

const TracedState = Schema.Struct({ trace: RunState.fields.trace })

/** Comparisons and traces of runs (docs/reference/runs.md#compare, docs/reference/runs.md#traces). */
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
      const { turns } = yield* DecisionReader

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
      const compare = Effect.fn("Insights.compare")(function* (leftRunId: string, rightRunId: string) {
        const both = Effect.all([load(leftRunId, ComparedState), load(rightRunId, ComparedState)])
        const sides = compareRuns(...(yield* turns.run(both)))
        const { divergence } = yield* decisions.divergence(leftRunId, rightRunId)
        return { ...sides, divergence }
      })
      return Insights.of({ traces, compare })
    })
  )
}
