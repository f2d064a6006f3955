import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../../event-log/runs/DeletionHooks.ts"

/**
 * Deletes what alerts have of deleted runs; a firing of a period stays without its run. The evaluator takes what runs
 * have spent out of the sums when a caller deletes them (docs/reference/alerts.md#deleted-runs). One statement, so that
 * a batch of retention costs one round trip: the firings that it deletes and those that it changes are different rows.
 */
export const makeAlertDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    (runIds, reason) => {
      const ids = sql`${runIds}::text[]::uuid[]`
      const theirs = sql`run_id = ANY(${ids})`
      return Effect.asVoid(sql`
    WITH memories AS (DELETE FROM alert_memories WHERE ${theirs}),
         marks AS (DELETE FROM alert_marks WHERE ${theirs}),
         deadlines AS (DELETE FROM alert_deadlines WHERE ${theirs}),
         reservations AS (DELETE FROM alert_reservations WHERE ${theirs}),
         claims AS (DELETE FROM alert_claimed_runs WHERE ${theirs}),
         commands AS (DELETE FROM alert_commands WHERE ${theirs}),
         own_firings AS (DELETE FROM alert_firings WHERE ${theirs} AND starts_with(period, run_id::text)),
         firings AS (
           UPDATE alert_firings SET run_id = NULL WHERE ${theirs} AND NOT starts_with(period, run_id::text)
         )
    INSERT INTO alert_deleted_runs (run_id, deleted_at)
    SELECT DISTINCT id, now() FROM unnest(${ids}) AS id
    WHERE ${reason} = 'deleted' AND EXISTS (SELECT FROM alert_rules)
    ON CONFLICT (run_id) DO UPDATE SET deleted_at = excluded.deleted_at`)
    }
)
