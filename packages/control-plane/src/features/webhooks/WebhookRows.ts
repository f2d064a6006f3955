import type { Webhook, WebhookDelivery } from "@runplane/api"
import { isJsonObject, RunId, type WebhookFormat } from "@runplane/domain"
import type * as Schema from "effect/Schema"

export interface WebhookRow {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly secret: string
  readonly format: WebhookFormat
  readonly active: boolean
  readonly created_at: Date
  readonly updated_at: Date
  readonly succeeded: bigint
  readonly failed: bigint
  readonly pending: bigint
  readonly last_delivered_at: Date | null
  readonly slowed_at: Date | null
  readonly made_for_rules: boolean
}

/** A subscription with its secret in full: only the answer that creates it may show that. */
export const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  url: row.url,
  events: row.events,
  secret: row.secret,
  ...(row.format !== "generic" && { format: row.format }),
  active: row.active,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  ...(row.made_for_rules && { madeForRules: true }),
  ...(row.slowed_at !== null && { slowedSince: row.slowed_at.toISOString() }),
  deliveryStats: {
    total: Number(row.succeeded + row.failed + row.pending),
    succeeded: Number(row.succeeded),
    failed: Number(row.failed),
    ...(row.last_delivered_at !== null && { lastDeliveredAt: row.last_delivered_at.toISOString() })
  }
})

/** How much of a secret its owner needs to recognise it. Characters. */
const SHOWN = 4
const MASK = "****"

export const masked = (webhook: Webhook): Webhook => ({ ...webhook, secret: maskSecret(webhook.secret) })

/** Scheme and host of an address, whose path and query let their holder post as we do. */
export const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "")

/** A subscription as viewers see it. */
export const withoutPath = (webhook: Webhook): Webhook => ({ ...masked(webhook), url: originOf(webhook.url) })

/** The last characters behind a mask; of a secret that has no more than those, nothing is shown. */
export const maskSecret = (secret: string): string => (secret.length > SHOWN ? MASK + secret.slice(-SHOWN) : MASK)

export interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  /** Null for an alert without a run, and for a test. */
  readonly run_id: string | null
  /** The firing that an alert reports. */
  readonly firing_id: string | null
  readonly event: string
  readonly payload: string
  readonly status: WebhookDelivery["status"]
  readonly attempts: number
  readonly next_attempt_at: Date | null
  readonly last_attempt_at: Date | null
  readonly response_status: number | null
  readonly error_message: string | null
  readonly created_at: Date
  readonly delivered_at: Date | null
}

/** The record of a delivery; absent values leave their key out. */
export const toDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  event: row.event,
  ...(row.run_id !== null && { runId: RunId.make(row.run_id) }),
  ...(row.firing_id !== null && { firingId: row.firing_id }),
  payload: parsePayload(row.payload),
  status: row.status,
  attempts: row.attempts,
  ...(row.next_attempt_at !== null && { nextAttemptAt: row.next_attempt_at.toISOString() }),
  ...(row.last_attempt_at !== null && { lastAttemptAt: row.last_attempt_at.toISOString() }),
  ...(row.response_status !== null && { responseStatus: row.response_status }),
  ...(row.error_message !== null && { errorMessage: row.error_message }),
  createdAt: row.created_at.toISOString(),
  ...(row.delivered_at !== null && { deliveredAt: row.delivered_at.toISOString() })
})

/** The body that is sent; a body for Alertmanager is an array, and one for PagerDuty has the key of its integration. */
const parsePayload = (text: string): Schema.JsonObject => {
  const payload: Schema.Json = JSON.parse(text)
  if (!isJsonObject(payload)) return { alerts: payload }
  const { routing_key: key } = payload
  return typeof key === "string" ? { ...payload, routing_key: maskSecret(key) } : payload
}
