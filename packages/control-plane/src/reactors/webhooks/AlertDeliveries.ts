import type * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertFormat, type AlertNotice, alertBody } from "@runplane/domain"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/** A notification for one subscription. */
export interface AlertDelivery {
  readonly webhookId: string
  readonly format: AlertFormat
  readonly notice: AlertNotice
}

const DUE_COLUMNS = { webhook_id: "uuid", lane: "uuid", event: "text", payload: "json", at: "timestamptz" } as const

/**
 * The INSERT of notifications into the outbox, for the transaction of their firings. The notifications of a firing
 * arrive in order, because they share the run, or else the id of the firing. An inactive subscription gets none. The
 * caller wakes the dispatcher after the commit.
 */
export const enqueueAlerts = (sql: PgClient.PgClient, deliveries: ReadonlyArray<AlertDelivery>) => {
  const rows = deliveries.map(({ format, notice, webhookId }) => ({
    webhook_id: webhookId,
    lane: notice.firing.runId ?? notice.firing.id,
    event: notice.event,
    payload: JSON.stringify(alertBody(format, notice)),
    at: notice.timestamp
  }))
  return sql`
    INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, next_attempt_at, created_at)
    SELECT w.id, due.lane, due.event, due.payload, now(), due.at
    FROM ${unnestRows(sql, rows, DUE_COLUMNS, { ordinal: true })} AS due
    JOIN webhooks w ON w.id = due.webhook_id AND w.active
    ORDER BY due.ordinal
    FOR KEY SHARE OF w`
}
