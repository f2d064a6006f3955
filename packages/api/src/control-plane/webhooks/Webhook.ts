import { about, Field, RunId, WEBHOOK_FORMATS } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

export const webhookFormat = Schema.Literals(WEBHOOK_FORMATS).annotate(
  about("The bodies: generic JSON; slack and teams get messages about questions to people, and nothing else", "slack")
)

/** What webhooks report (docs/reference/webhooks.md#webhook-events). */
export const webhookEvents = [
  "run.started",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.corrected",
  "run.suspended",
  "run.resumed",
  "mark.added",
  "item.opened",
  "item.escalated",
  "item.unreachable",
  "item.reminded",
  "item.undelivered",
  "item.closed"
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** What a test of a subscription is called (docs/reference/webhooks.md#webhook-test). */
export const WEBHOOK_TEST = "webhook.test"

export const WebhookDeliveryStats = Schema.Struct({
  total: Field.integer("Deliveries since the subscription was made, pending ones included"),
  succeeded: Field.integer("Deliveries that were answered with 2xx"),
  failed: Field.integer("Deliveries that were given up"),
  lastDeliveredAt: optional(Field.time("When one last succeeded"))
}).annotate({ identifier: "WebhookDeliveryStats", description: "How the deliveries of a subscription went" })

/** A webhook subscription (docs/reference/webhooks.md#webhook-subscriptions). */
export const Webhook = Schema.Struct({
  id: Field.text("Id of the subscription: UUID"),
  url: Field.text("Where deliveries go; viewers see scheme and host alone", "https://example.org/hooks/runs"),
  events: Schema.Array(Schema.String).annotate({
    description: `Of ${webhookEvents.join(", ")}; none means all, other names match nothing`
  }),
  secret: Schema.String.annotate({
    description: "In full only in the answer that creates the subscription; afterwards its last 4 characters",
    examples: ["****cret"]
  }),
  format: optional(webhookFormat),
  active: Field.flag("Whether events are delivered; an answer of 410 makes it false"),
  createdAt: Field.time("When it was made"),
  updatedAt: Field.time("When it last changed"),
  madeForRules: optional(
    Field.flag("Whether an alert rule has made it for a URL: it is removed with the last rule that uses it")
  ),
  slowedSince: optional(
    Field.time("Since when it has one attempt at a time, because its receiver did not answer in time; absent else")
  ),
  deliveryStats: optional(WebhookDeliveryStats)
}).annotate({ identifier: "Webhook", description: "A webhook subscription" })
export type Webhook = typeof Webhook.Type

export const webhookDeliveryStatuses = ["pending", "delivered", "failed"] as const

/** One event on its way to one subscription (docs/reference/webhooks.md#webhook-delivery). */
export const WebhookDelivery = Schema.Struct({
  id: Field.text("Id of the delivery: UUID; sent as webhook-id with every attempt"),
  webhookId: Field.text("The subscription"),
  event: Field.text("The event", "run.completed"),
  // Absent for a test, and for an alert without a run.
  runId: optional(RunId),
  firingId: optional(Field.text("The firing that an alert event reports")),
  payload: Schema.JsonObject.annotate({
    description: "The body that is sent",
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
  status: Schema.Literals(webhookDeliveryStatuses).annotate({ description: "failed when it was given up" }),
  attempts: Field.integer("Attempts made"),
  nextAttemptAt: optional(Field.time("While pending: not before this time")),
  lastAttemptAt: optional(Field.time("When it was last tried")),
  responseStatus: optional(Field.integer("HTTP status of the last answer", 200)),
  errorMessage: optional(Field.text("Why the last attempt failed")),
  createdAt: Field.time("When the event happened"),
  deliveredAt: optional(Field.time("When it was answered with 2xx"))
}).annotate({ identifier: "WebhookDelivery", description: "A delivery of one event to one subscription" })
export type WebhookDelivery = typeof WebhookDelivery.Type

export const WebhookDeliveryPage = Schema.Struct({
  data: Schema.Array(WebhookDelivery).annotate({ description: "The deliveries of this page" }),
  total: Field.integer("All matches of the same filter"),
  limit: Field.integer("Most deliveries of a page, as requested"),
  offset: Field.integer("Matches before this page")
}).annotate({ identifier: "WebhookDeliveryPage", description: "One page of deliveries, the latest first" })
export type WebhookDeliveryPage = typeof WebhookDeliveryPage.Type
