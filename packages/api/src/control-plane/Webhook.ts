import { RunId } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { Timestamp } from "./Run.ts"

const optional = Schema.optionalKey

/** What webhooks can tell about, in the order of a run's life (http-details section 12). */
export const webhookEvents = [
  "run.started",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.suspended",
  "run.resumed"
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

export const WebhookDeliveryStats = Schema.Struct({
  total: Schema.Int.annotate({ description: "Deliveries since the subscription was made, pending ones included" }),
  succeeded: Schema.Int,
  failed: Schema.Int.annotate({ description: "Deliveries that were given up" }),
  lastDeliveredAt: optional(Timestamp)
}).annotate({ identifier: "WebhookDeliveryStats" })

/** A webhook subscription (http-details section 12). */
export const Webhook = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  events: Schema.Array(Schema.String).annotate({
    description: `Of ${webhookEvents.join(", ")}; none means all, other names match nothing`
  }),
  secret: Schema.String.annotate({
    description: "In full only in the answer that creates the subscription; afterwards its last 4 characters",
    examples: ["****cret"]
  }),
  active: Schema.Boolean,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deliveryStats: optional(WebhookDeliveryStats)
}).annotate({ identifier: "Webhook", description: "A webhook subscription" })
export type Webhook = typeof Webhook.Type

export const webhookDeliveryStatuses = ["pending", "delivered", "failed"] as const

/** One event on its way to one subscription (http-details section 12, "delivery record"). */
export const WebhookDelivery = Schema.Struct({
  id: Schema.String.annotate({ description: "Sent as webhook-id with every attempt" }),
  webhookId: Schema.String,
  event: Schema.String,
  runId: RunId,
  payload: Schema.JsonObject.annotate({
    examples: [
      {
        event: "run.failed",
        runId: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10",
        status: "failed",
        timestamp: "2026-07-01T10:00:00.000Z",
        data: { error: "runtime session expired" }
      }
    ]
  }),
  status: Schema.Literals(webhookDeliveryStatuses),
  attempts: Schema.Int.annotate({ description: "Attempts made" }),
  nextAttemptAt: optional(Timestamp.annotate({ description: "While pending: not before this time" })),
  lastAttemptAt: optional(Timestamp),
  responseStatus: optional(Schema.Int),
  errorMessage: optional(Schema.String),
  createdAt: Timestamp,
  deliveredAt: optional(Timestamp)
}).annotate({ identifier: "WebhookDelivery", description: "A delivery of one event to one subscription" })
export type WebhookDelivery = typeof WebhookDelivery.Type

export const WebhookDeliveryPage = Schema.Struct({
  data: Schema.Array(WebhookDelivery),
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int
}).annotate({ identifier: "WebhookDeliveryPage", description: "One page of deliveries, the latest first" })
export type WebhookDeliveryPage = typeof WebhookDeliveryPage.Type
