import type * as PgClient from "@effect/sql-pg/PgClient"
import { hasStatus } from "../../../event-log/runs/RunColumns.ts"

/**
 * Whether the evaluator has counted the whole log of the ended run of a reservation `v`: what the run has spent is in
 * the counters, so the reservation holds nothing any more (docs/reference/alerts.md#admission).
 */
export const isSettled = (sql: PgClient.PgClient) => sql`
  EXISTS (SELECT FROM runs r JOIN run_heads h ON h.run_id = r.id
          WHERE r.id = v.run_id AND ${hasStatus(sql, "ended", "r")} AND h.last_seq <= (SELECT seq FROM alert_cursor))`

/** Removes the reservations of these runs that are settled; of all runs without any. */
export const releaseSettled = (sql: PgClient.PgClient, runIds?: ReadonlyArray<string>) => sql`
  DELETE FROM alert_reservations v
  WHERE ${runIds === undefined ? sql`true` : sql`v.run_id = ANY(${runIds}::text[]::uuid[])`} AND ${isSettled(sql)}`
