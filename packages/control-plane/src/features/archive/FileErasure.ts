import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type ErasureHook, type FoundRows, NOTHING_FOUND } from "../../event-log/erasure/ErasureHooks.ts"

export const UNTIL = "`runplane archive compact`, once the days (UTC) of the run and of its events have ended"

/**
 * Notes that files have texts of the run, and keeps the erased events as the files are to have them: compaction
 * rewrites the files (docs/reference/erasure.md#archive). A file that is being written may have read the events before.
 */
export const makeFileErasure = Effect.map(
  PgClient.PgClient,
  (sql): ErasureHook =>
    Effect.fnUntraced(function* ({ at, isDryRun, runId }) {
      const [row] = yield* sql<{ readonly is_filed: boolean }>`
        SELECT coalesce(s.seq >= e.first_seq OR EXISTS (
                 SELECT FROM archive_ranges r WHERE r.table_name = 'events' AND r.range_from <= h.last_seq
                   AND r.range_to >= e.first_seq), false) AS is_filed
        FROM archive_state s JOIN run_heads h ON h.run_id = ${runId}::uuid
        CROSS JOIN LATERAL (SELECT min(seq) AS first_seq FROM canonical_events WHERE run_id = h.run_id) AS e`
      if (row === undefined) return NOTHING_FOUND
      if (!isDryRun) {
        yield* sql`
          INSERT INTO archive_erasures (run_id, requested_at, run_created_at, first_seq, last_seq)
          SELECT r.id, ${at}::timestamptz, r.created_at, e.first_seq, h.last_seq
          FROM runs r JOIN run_heads h ON h.run_id = r.id
          CROSS JOIN LATERAL (SELECT min(seq) AS first_seq FROM canonical_events WHERE run_id = r.id) AS e
          WHERE r.id = ${runId}::uuid AND e.first_seq IS NOT NULL`
        yield* sql`
          INSERT INTO archive_erased_events (seq, run_id, event, salts)
          SELECT seq, run_id, event, salts FROM canonical_events
          WHERE run_id = ${runId}::uuid AND salts IS NOT NULL
          ON CONFLICT (seq) DO UPDATE SET event = excluded.event, salts = excluded.salts`
      }
      const found: FoundRows = { ...NOTHING_FOUND, ...(row.is_filed && { pending: { since: at, until: UNTIL } }) }
      return found
    })
)
