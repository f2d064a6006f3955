import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type Expiry, removeOldest } from "../../platform/postgres/Expiry.ts"

/** Retention of resolved alerts. Those of a run go with the run. */
export const makeFiringExpiry = Effect.map(
  PgClient.PgClient,
  (sql): Expiry => ({
    kind: "alert",
    title: "alerts",
    removeBatch: (cutoff) =>
      removeOldest(sql, {
        table: "alert_firings",
        at: "starts_at",
        isExpired: sql`starts_at < ${cutoff}::timestamptz AND resolved_at < ${cutoff}::timestamptz AND run_id IS NULL`
      })
  })
)
