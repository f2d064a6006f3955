import * as PgClient from "@effect/sql-pg/PgClient"
import { type ChainVersion, RunId, type RunStatus, runCreated } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { type Deletion, RunAdministration } from "../../src/event-log/runs/RunAdministration.ts"
import { saltsColumn } from "../../src/event-log/StoredSalts.ts"
import { makeDecisionDeletion } from "../../src/features/decisions/DecisionDeletion.ts"
import { Ids } from "../../src/platform/Ids.ts"

/** Creates a run as `POST /runs` does, with the session id as its own id, but notifies no observer. */
export const createRun = Effect.fnUntraced(function* (
  options: {
    readonly id?: string
    /** The run's own id unless said. */
    readonly sessionId?: string
    readonly modeName?: string
    /** Where its row says it stands; its log says that it was created. */
    readonly status?: RunStatus
    readonly metadata?: Readonly<Record<string, unknown>>
    readonly scenarioRef?: string
    readonly environment?: string
    readonly sourceKind?: string
    readonly tags?: ReadonlyArray<string>
    /** Version of its chains: 1 of a run that an earlier release began. */
    readonly chain?: ChainVersion
    /** ISO-8601; in July 2026 unless said. */
    readonly createdAt?: string
  } = {}
) {
  const sql = yield* PgClient.PgClient
  const log = yield* EventLog
  const ids = yield* Ids
  const id = options.id ?? (yield* ids.uuid)
  const sessionId = options.sessionId ?? id
  const modeName = options.modeName ?? "macp.mode.decision.v1"
  const traceId = yield* ids.traceId
  const spanId = yield* ids.spanId
  const runId = RunId.make(id)
  const now = options.createdAt ?? "2026-07-01T10:00:00.000Z"
  const create = Effect.gen(function* () {
    const rows = yield* sql`
      INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags, metadata,
                        scenario_ref, environment, source_kind, search_text, created_at, updated_at)
      VALUES (${id}::uuid, ${options.status ?? "queued"}, 'live', ${modeName}, 'rust', ${sessionId},
              ${traceId}, ${spanId}, ${options.tags ?? []}::text[],
              ${JSON.stringify(options.metadata ?? {})}::text::json, ${options.scenarioRef ?? null},
              ${options.environment ?? null}, ${options.sourceKind ?? null}, '', ${now}::timestamptz, ${now}::timestamptz)
      ON CONFLICT DO NOTHING RETURNING id`
    if (rows.length === 0) return false
    yield* sql`INSERT INTO run_heads (run_id, chain_version) VALUES (${id}::uuid, ${options.chain ?? 2})`
    return true
  })
  yield* log.create({
    runId,
    insert: create,
    events: [runCreated({ ts: now, runId, traceId, modeName, runtimeKind: "rust", sessionId })]
  })
  return runId
})

/**
 * What the log holds of a run, for checks against a rebuild: one moment of it, although the run may be written
 * meanwhile.
 */
export const readLog = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  return yield* sql
    .withTransaction(readRows(runId))
    .pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ"))
})

const readRows = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const events = yield* sql<{
    readonly seq: bigint
    readonly index: number
    readonly type: string
    readonly event: string
    readonly salts: string | null
  }>`
    SELECT seq, index, type, event::text AS event, ${saltsColumn(sql, "canonical_events")}
    FROM canonical_events WHERE run_id = ${runId}::uuid ORDER BY seq`
  const raw = yield* sql<{ readonly seq: number; readonly kind: string; readonly payload: string }>`
    SELECT seq, kind, payload::text AS payload FROM raw_events WHERE run_id = ${runId}::uuid ORDER BY seq`
  const [projection] = yield* sql<{ readonly state: string; readonly metrics: string; readonly last_seq: bigint }>`
    SELECT p.state::text AS state, m.metrics::text AS metrics, p.last_seq
    FROM projections p JOIN run_metrics m USING (run_id) WHERE p.run_id = ${runId}::uuid`
  const [head] = yield* sql<{
    readonly status: string
    readonly last_seq: bigint
    readonly last_index: number
    readonly stream_cursor: bigint
    readonly chain_head: string | null
  }>`
    SELECT r.status, h.last_seq, h.last_index, h.stream_cursor, encode(h.chain_head, 'hex') AS chain_head
    FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ${runId}::uuid`
  return { events, raw, projection, head }
})

/** Deletes the row of a run under the service, which leaves its log and counts no deletion. */
export const dropRun = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SELECT FROM runs WHERE id = ${runId}::uuid FOR UPDATE`
      yield* (yield* makeDecisionDeletion)([runId], "deleted")
      yield* sql`DELETE FROM runs WHERE id = ${runId}::uuid`
    })
  )
})

/** Deletes runs as the service does, in one transaction. */
export const removeRuns = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>, deletion: Deletion = aDeletion) {
  const sql = yield* PgClient.PgClient
  const runs = yield* RunAdministration
  yield* sql.withTransaction(Effect.andThen(runs.lock(runIds), runs.remove(runIds, deletion)))
})

/** A deletion outside of the service. */
export const aDeletion: Deletion = { reason: "deleted", by: "test", at: "2026-07-01T10:00:00.000Z" }
