import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"

/**
 * Deletes the spans of deleted runs. Their traces stay known as deleted for a while, so that late spans make no run of
 * them again (docs/reference/ingest.md#deleted-runs).
 */
export const makeSpanDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    Effect.fnUntraced(function* (runIds) {
      const theirs = sql`run_id = ANY(${runIds}::text[]::uuid[])`
      yield* sql`DELETE FROM otlp_seen WHERE ${theirs}`
      yield* sql`DELETE FROM otlp_calls WHERE ${theirs}`
      yield* sql`
        WITH gone AS (DELETE FROM otlp_traces WHERE ${theirs} RETURNING source, trace_id)
        INSERT INTO deleted_traces (source, trace_id, deleted_at) SELECT source, trace_id, now() FROM gone
        ON CONFLICT (source, trace_id) DO UPDATE SET deleted_at = excluded.deleted_at`
      yield* sql`DELETE FROM deleted_traces WHERE deleted_at < now() - interval '30 days'`
    })
)
