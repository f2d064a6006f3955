import { about, CANONICAL_EVENT_TYPES, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../validation/Fields.ts"
import { httpUrl } from "../validation/HttpUrl.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { isWebhookSecret } from "../validation/WebhookSecret.ts"
import { webhookDeliveryStatuses, webhookEvents } from "./Webhook.ts"

export const MAX_WEBHOOK_EVENTS = 100
/** Characters. */
export const MAX_WEBHOOK_SECRET_LENGTH = 512

const optional = Schema.optionalKey

const url = httpUrl("Absolute http or https URL", "https://example.org/hooks/runs")

/**
 * The names that a subscription may list (docs/reference/http.md#webhook-subscriptions): the other types of the log
 * match nothing, but readers offer them.
 */
const requestableEvents: ReadonlyArray<string> = [...new Set([...webhookEvents, ...CANONICAL_EVENT_TYPES])]
const isRequestableEvent = Schema.makeFilter((name: string) => requestableEvents.includes(name), {
  expected: `one of the following values: ${webhookEvents.join(", ")}`,
  toJsonSchema: () => ({ enum: requestableEvents })
})
const events = Schema.Array(Schema.String.check(isRequestableEvent))
  .annotate(
    about(`Of ${webhookEvents.join(", ")}; empty means all, other types of the log match nothing`, ["run.completed"])
  )
  .check(Schema.isMaxLength(MAX_WEBHOOK_EVENTS))
const secret = Field.text(
  "Signs every delivery; with the prefix whsec_ the rest is a base64 key of 24 to 64 bytes for webhook-signature",
  "correct horse battery staple"
).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_WEBHOOK_SECRET_LENGTH), isWebhookSecret)

/** The body of `POST /webhooks`. */
export const NewWebhook = Schema.Struct({ url, events: withDefault(events, []), secret }).annotate({
  identifier: "WebhookRequest",
  description: "A subscription"
})
export type NewWebhook = typeof NewWebhook.Type

/** The body of `PATCH /webhooks/:id`: any subset. */
export const WebhookChange = Schema.Struct({
  url: optional(url),
  events: optional(events),
  secret: optional(secret),
  active: optional(Field.flag("An inactive subscription keeps its pending deliveries until it is active"))
}).annotate({ identifier: "WebhookChange", description: "What to change" })
export type WebhookChange = typeof WebhookChange.Type

export const MAX_DELIVERY_PAGE = 200
export const DEFAULT_DELIVERY_PAGE = 50

/** The query of `GET /webhooks/:id/deliveries`. */
export const webhookDeliveriesQuery = querySchema({
  status: optional(
    Schema.Literals(webhookDeliveryStatuses).annotate(about("Only deliveries with this status", "failed"))
  ),
  limit: withDefault(
    integer({ min: 1, max: MAX_DELIVERY_PAGE }).annotate(about("Most deliveries of the page", DEFAULT_DELIVERY_PAGE)),
    DEFAULT_DELIVERY_PAGE
  ),
  offset: withDefault(integer({ min: 0 }).annotate(about("Matches to leave out before the page", 0)), 0)
})
export type WebhookDeliveriesQuery = typeof webhookDeliveriesQuery.Type
