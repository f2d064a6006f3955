import * as PgClient from "@effect/sql-pg/PgClient"
import type { WebhookEvent } from "@runplane/api"
import type { CanonicalEvent, RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { AppliedChange, Reactor, WrittenAppend } from "../../event-log/append/Reactors.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

const DUE_COLUMNS = { run_id: "uuid", event: "text", payload: "json", at: "timestamptz" } as const

/** An event that is delivered to each active subscription that wants it. `payload` is JSON, `at` ISO-8601. */
interface DueEvent {
  readonly run_id: string
  readonly event: WebhookEvent
  readonly payload: string
  readonly at: string
}

/**
 * The INSERT of deliveries, for the transaction of their events. The key-share lock keeps a subscription that is being
 * removed at the same moment from failing it: nothing of a webhook may ever hurt a run.
 */
export const enqueueDeliveries = (sql: PgClient.PgClient, events: ReadonlyArray<DueEvent>) => sql`
  INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, next_attempt_at, created_at)
  SELECT w.id, due.run_id, due.event, due.payload, now(), due.at
  FROM ${unnestRows(sql, events, DUE_COLUMNS, { ordinal: true })} AS due
  JOIN webhooks w ON w.active AND (w.events = '{}' OR due.event = ANY(w.events))
  ORDER BY due.ordinal
  FOR KEY SHARE OF w`

/**
 * Writes the deliveries of the changes of status, and calls `wake` when they are committed
 * (docs/reference/webhooks.md#webhook-delivery).
 */
export const makeWebhookOutbox = (wake: () => void) =>
  Effect.map(PgClient.PgClient, (sql): Reactor => {
    const inTransaction = (appends: ReadonlyArray<WrittenAppend>) => {
      const rows = appends.flatMap((append) => {
        const { events, runId } = append
        const change = changeOf(append)
        if (change === undefined) return []
        const isCorrected = append.change === undefined && change.to !== "running"
        const event = isCorrected ? "run.corrected" : webhookEventOf(change.to, events)
        return event === undefined
          ? []
          : [{ run_id: runId, event, at: change.at, payload: payloadOf(event, runId, change) }]
      })
      if (rows.length === 0) return []
      return [enqueueDeliveries(sql, rows)]
    }
    const afterCommit = (appends: ReadonlyArray<WrittenAppend>) => {
      if (appends.some((append) => changeOf(append) !== undefined)) wake()
    }
    return { inTransaction, afterCommit }
  })

/**
 * The change of an append. A run of telemetry is created as running, without a change, and the correction of its end is
 * no transition.
 */
const changeOf = ({ change, events }: WrittenAppend): AppliedChange | undefined => {
  const corrected = events.find((event) => event.type === "run.corrected")
  if (corrected?.data.status !== undefined) {
    return { to: corrected.data.status, at: corrected.ts, error: corrected.data.error }
  }
  if (change !== undefined || events[0]?.type !== "run.created") return change
  const started = events.find(({ type }) => type === "run.started")
  return started && { to: "running", at: started.ts, error: undefined }
}

/**
 * run.started is sent when the run enters `running`. A resumed run enters it again, and run.resumed is sent.
 * The events of the same append distinguish the two.
 */
export const webhookEventOf = (
  status: RunStatus,
  events: ReadonlyArray<Pick<CanonicalEvent, "type">>
): WebhookEvent | undefined => {
  switch (status) {
    case "queued":
    case "starting":
    case "binding_session":
      return undefined
    case "running":
      return events.some(({ type }) => type === "run.resumed") ? "run.resumed" : "run.started"
    default:
      return `run.${status}`
  }
}

const payloadOf = (event: WebhookEvent, runId: string, { at, error, to }: AppliedChange): string =>
  JSON.stringify({ event, runId, status: to, timestamp: at, ...(error !== undefined && { data: { error } }) })
