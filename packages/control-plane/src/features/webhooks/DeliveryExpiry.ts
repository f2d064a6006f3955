import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type Expiry, removeOldest } from "../../platform/postgres/Expiry.ts"

/** Retention of deliveries. A delivery that was queued again lately is still owed to its subscriber. */
export const makeDeliveryExpiry = Effect.map(
  PgClient.PgClient,
  (sql): Expiry => ({
    kind: "webhook_delivery",
    title: "webhook deliveries",
    removeBatch: (cutoff) =>
      removeOldest(sql, {
        table: "webhook_deliveries",
        at: "created_at",
        isExpired: sql`created_at < ${cutoff}::timestamptz
          AND NOT (status = 'pending' AND queued_at >= ${cutoff}::timestamptz)`
      })
  })
)
