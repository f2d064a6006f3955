import type * as PgClient from "@effect/sql-pg/PgClient"

/** The condition that files have all events, the row and the marks of a run `r` as they are now. */
export const isFiled = (sql: PgClient.PgClient) => sql`
  EXISTS (SELECT FROM archive_runs a JOIN run_heads h ON h.run_id = a.run_id
          WHERE a.run_id = r.id AND a.events = h.last_index AND a.last_seq = h.last_seq)
  AND NOT EXISTS (SELECT FROM archive_changes c WHERE c.run_id = r.id)`
