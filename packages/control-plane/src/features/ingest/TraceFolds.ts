import * as PgClient from "@effect/sql-pg/PgClient"
import {
  CORRECT,
  judgementOf,
  OTLP_MODE_NAME,
  OTLP_RUNTIME_KIND,
  type RunId,
  type TraceFoldStep
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { RunAlreadyExists, RunEnd, RunNotFound } from "../../event-log/append/AppendRequest.ts"
import { EventLog } from "../../event-log/EventLog.ts"
import { ArtifactRepository } from "../../event-log/runs/ArtifactRepository.ts"
import type { NewRun } from "../../event-log/runs/NewRun.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { TelemetryMarks } from "../../marks/TelemetryMarks.ts"
import { Ids } from "../../platform/Ids.ts"
import type { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import { countedCalls } from "./CountedCalls.ts"
import { columnsOf, makeFoldRows } from "./folds/FoldRows.ts"
import { makeOpenFold, type OpenTraceFold } from "./folds/OpenFold.ts"
import { IngestSettings } from "./IngestSettings.ts"
import type { SpanInboxRow, TraceRef } from "./SpanInbox.ts"

/**
 * The folds of runs: read from the stored nodes, and continued by appends
 * (docs/reference/ingest.md#exactly-once).
 */
export class TraceFolds extends Context.Service<
  TraceFolds,
  {
    /** `deleted` when the run is deleted: its traces need another. Undefined when no trace is bound to the run. */
    readonly open: (runId: RunId) => Effect.Effect<OpenTraceFold | "deleted" | undefined, SqlError>
    /**
     * Appends what a step decided, stores its marks, and removes the consumed rows from the span inbox in the same
     * transaction. Fails when another process has continued the fold: it is opened again then.
     */
    readonly append: (
      fold: OpenTraceFold,
      step: TraceFoldStep,
      rows: ReadonlyArray<SpanInboxRow>
    ) => Effect.Effect<StoredMarks, SqlError | AppendFailed | RunNotFound | RunAlreadyExists>
    /** Identities of the model calls of a step that another run has counted: the step is to be made again then. */
    readonly countedElsewhere: (
      fold: OpenTraceFold,
      step: TraceFoldStep
    ) => Effect.Effect<ReadonlyArray<string>, SqlError>
    /** Removes what no later step needs. Call it every few seconds. */
    readonly removeOld: Effect.Effect<void, SqlError>
    /** Releases the traces that were bound to a run while it was deleted, and returns them. */
    readonly release: (runId: RunId) => Effect.Effect<ReadonlyArray<TraceRef>, SqlError>
    /** Runs of OpenTelemetry that have not ended, with their sources. */
    readonly unfinished: Effect.Effect<ReadonlyArray<{ readonly runId: RunId; readonly source: string }>, SqlError>
  }
>()("runplane/control-plane/TraceFolds") {
  static readonly layer = Layer.effect(
    TraceFolds,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const artifacts = yield* ArtifactRepository
      const ids = yield* Ids
      const log = yield* EventLog
      const marks = yield* TelemetryMarks
      const repository = yield* RunRepository
      const open = yield* makeOpenFold
      const { calls, consume, count, update } = yield* makeFoldRows
      const { truth } = yield* IngestSettings

      const append = Effect.fn("TraceFolds.append")(function* (
        fold: OpenTraceFold,
        step: TraceFoldStep,
        rows: ReadonlyArray<SpanInboxRow>
      ) {
        const { runId } = fold
        const facts = JSON.stringify(step.facts)
        const isNew = !fold.isCreated && step.events.length > 0
        const judgements = step.marks.map((mark) => ({ ...mark, ...judgementOf(mark, fold.options) }))
        const statesTruth = truth === "all" || (truth === "own" && fold.options.joined === undefined)
        const stated = statesTruth ? judgements : judgements.filter(({ name }) => name !== CORRECT)
        let storedMarks = 0
        let areFactsStored = isNew
        const also = (at: string) =>
          Effect.gen(function* () {
            if (rows.length > 0) yield* consume({ fold, step, rows })
            for (const { artifactId: id, content, kind, label } of step.artifacts) {
              yield* artifacts.insert({ id, runId, kind, label, inline: { text: content }, createdAt: at })
            }
            const isChanged = fold.isCreated && fold.options.joined === undefined && facts !== fold.facts
            if (isChanged) yield* update(fold, step.facts, at)
            if ((isNew || isChanged) && step.facts.startedAt !== undefined) yield* count(runId, step.facts.startedAt)
            areFactsStored ||= isChanged
            if (stated.length > 0) storedMarks = yield* marks.add(runId, fold.source, stated, at)
          })
        const { events } = step
        const end = step.end && endOf(step.end)
        if (isNew) {
          const insert = repository.insert(yield* newRun(fold, step, rows))
          yield* log.create({ runId, insert, events, also, ...(end !== undefined && { end }) })
        } else if (end !== undefined) {
          yield* log.change({ runId, ...end, events: () => events, maxEvents: events.length, also })
        } else if (events.length > 0 || rows.length > 0) {
          const correction = step.correction && endOf(step.correction)
          yield* fold.isCreated
            ? log.record({ runId, events, also, ...(correction !== undefined && { correction }) })
            : sql.withTransaction(also(""))
        }
        fold.positions += step.consumed.filter(({ node }) => node !== undefined).length
        fold.isCreated ||= isNew
        // A step without events writes nothing: the next one that does has these facts.
        if (areFactsStored) fold.facts = facts
        fold.state = step.state
        for (const { ordinal } of rows) fold.pending.delete(ordinal)
        return { stored: storedMarks, dropped: judgements.length - storedMarks }
      })

      const newRun = Effect.fnUntraced(function* (
        fold: OpenTraceFold,
        step: TraceFoldStep,
        rows: ReadonlyArray<SpanInboxRow>
      ) {
        const run: NewRun = {
          ...columnsOf(fold, step.facts),
          id: fold.runId,
          mode: "live",
          modeName: OTLP_MODE_NAME,
          runtimeKind: OTLP_RUNTIME_KIND,
          runtimeVersion: undefined,
          sessionId: fold.options.sessionId,
          traceId: rows[0]?.traceId ?? (yield* ids.traceId),
          spanId: yield* ids.spanId,
          traceParent: undefined,
          idempotencyKey: undefined,
          sourceKind: OTLP_RUNTIME_KIND,
          runningSince: step.startedAt
        }
        return run
      })

      const unfinished = Effect.map(
        sql<{ readonly id: RunId; readonly source: string | null }>`
          SELECT id::text AS id, metadata ->> 'source' AS source
          FROM runs WHERE status = 'running' AND runtime_kind = ${OTLP_RUNTIME_KIND}`,
        (rows) => rows.map(({ id, source }) => ({ runId: id, source: source ?? "" }))
      ).pipe(Effect.withTracerEnabled(false))

      const release = Effect.fn("TraceFolds.release")((runId: RunId) =>
        Effect.map(
          sql<{ readonly source: string; readonly trace_id: string }>`
            DELETE FROM otlp_traces t WHERE run_id = ${runId}::uuid AND NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run_id)
            RETURNING source, trace_id`,
          (rows) => rows.map(({ source, trace_id }): TraceRef => ({ source, traceId: trace_id }))
        )
      )

      const countedElsewhere = (fold: OpenTraceFold, step: TraceFoldStep) =>
        calls.countedElsewhere(fold.runId, countedCalls(fold.source, step))

      return TraceFolds.of({ open, append, countedElsewhere, removeOld: calls.removeOld, release, unfinished })
    })
  )
}

/** The end that a step gives the run, as the log takes it. */
const endOf = ({
  endedAt,
  errorCode = "APPLICATION_ERROR",
  errorMessage = errorCode,
  startedAt,
  status
}: NonNullable<TraceFoldStep["correction"]>): RunEnd => ({
  to: status,
  times: { startedAt, endedAt },
  ...(status === "failed" && { failure: { errorCode, errorMessage } })
})

/** Judgements of a step. A repetition counts as dropped. */
export interface StoredMarks {
  readonly stored: number
  readonly dropped: number
}
