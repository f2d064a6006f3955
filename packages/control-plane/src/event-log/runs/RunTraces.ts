import * as PgClient from "@effect/sql-pg/PgClient"
import { OTLP_RUNTIME_KIND, RunId } from "@runplane/domain"
import { callerFrom, RootSpans } from "@runplane/server"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type * as Statement from "effect/sql/Statement"
import * as Tracer from "effect/Tracer"
import { batchedReads } from "../../platform/postgres/Batched.ts"
import { idRows } from "../../platform/postgres/KeptPlans.ts"

/** Runs whose trace is cached. */
const REMEMBERED_TRACES = 10_000

/** The trace of a run, as it was decided at its creation: the ids of its `run.lifecycle` span. */
export interface RunTrace {
  readonly runId: RunId
  readonly sessionId: string
  readonly traceId: string
  readonly spanId: string
  /** Whether the sampler wants it. */
  readonly sampled: boolean
}

/** Runs that one query looks for at most. */
const RUNS_PER_QUERY = 500

/**
 * Finds the trace of a run. The ids are stored with the run, so every process, also after a restart, adds to the same
 * trace.
 */
export class RunTraces extends Context.Service<
  RunTraces,
  {
    readonly find: (runId: RunId) => Effect.Effect<RunTrace | undefined, SqlError>
    readonly findBySession: (sessionId: string) => Effect.Effect<RunTrace | undefined, SqlError>
  }
>()("runplane/control-plane/RunTraces") {
  static readonly layer = Layer.effect(
    RunTraces,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const roots = yield* RootSpans
      const traceOf = (row: TraceRow): RunTrace => {
        const ids = { traceId: row.trace_id, spanId: row.span_id }
        const { sampled } = roots.start("run.lifecycle", { ...ids, caller: callerFrom(row.trace_parent) }, 0n)
        return { runId: RunId.make(row.id), sessionId: row.runtime_session_id, ...ids, sampled }
      }
      const read = (runs: Statement.Fragment) =>
        Effect.map(
          sql<TraceRow>`
            SELECT run.id::text AS id, run.runtime_session_id, run.trace_id, run.span_id, run.trace_parent FROM ${runs}`,
          (rows) => rows.map(traceOf)
        ).pipe(Effect.withTracerEnabled(false))
      const readTrace = batchedReads(sql, RUNS_PER_QUERY, (runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          read(sql`
            ${idRows(sql, runIds)} AS wanted (id)
            CROSS JOIN LATERAL (
              SELECT * FROM runs WHERE id = wanted.id AND runtime_kind <> ${OTLP_RUNTIME_KIND} LIMIT 1
            ) AS run`),
          (traces) => new Map(traces.map((trace) => [trace.runId, trace]))
        )
      )
      // The spans of a run of OpenTelemetry came from its application, which has its own exporter.
      // A missing run may exist at the next read; a trace never changes.
      const remembered = yield* Cache.makeWith(readTrace, {
        capacity: REMEMBERED_TRACES,
        timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? "1 hour" : 0)
      })
      return RunTraces.of({
        find: (runId) => Cache.get(remembered, runId),
        findBySession: (sessionId) =>
          Effect.map(
            read(sql`
              runs AS run WHERE runtime_session_id = ${sessionId} AND runtime_kind <> ${OTLP_RUNTIME_KIND}
              ORDER BY (error_code IS NOT DISTINCT FROM 'RUNTIME_TIMEOUT'), created_at DESC, run.id DESC LIMIT 1`),
            ([trace]) => trace
          )
      })
    })
  )
}

interface TraceRow {
  readonly id: string
  readonly runtime_session_id: string
  readonly trace_id: string
  readonly span_id: string
  readonly trace_parent: string | null
}

/** The run's span as a parent; `recorded` says whether this process records spans. */
export const parentSpan = ({ sampled, spanId, traceId }: RunTrace, recorded: boolean): Tracer.ExternalSpan =>
  Tracer.externalSpan({ traceId, spanId, sampled: sampled && recorded })
