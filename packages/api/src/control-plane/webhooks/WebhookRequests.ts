import { about, CANONICAL_EVENT_TYPES, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { webhookDeliveryStatuses, webhookEvents, webhookFormat } from "./Webhook.ts"

/** Secrets of the Standard Webhooks form begin with it; a base64 key follows. */
const KEY_PREFIX = "whsec_"
/** Least bytes of a key of Standard Webhooks. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Length of what a base64 text holds, in bytes; undefined for another text. */
const bytesOf = (text: string): number | undefined =>
  BASE64.test(text) ? (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0) : undefined

/**
 * A new secret of the Standard Webhooks form holds a key that their libraries take
 * (docs/reference/webhooks.md#webhook-headers); every other text is taken as it is.
 */
const isWebhookSecret = Schema.makeFilter((secret: string) => {
  if (!secret.startsWith(KEY_PREFIX)) return undefined
  const bytes = bytesOf(secret.slice(KEY_PREFIX.length)) ?? 0
  return bytes >= MIN_KEY_BYTES && bytes <= MAX_KEY_BYTES
    ? undefined
    : `must hold a base64 key of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes after ${KEY_PREFIX}`
})

/** Characters; longer URLs break proxies on their way. */
const MAX_URL_LENGTH = 2_048

const expected = "a URL address"

/**
 * An absolute http or https URL, kept as it was written. Credentials in it are refused: a URL is listed and logged, a
 * secret must not be.
 */
const httpUrl = (description: string, example: string) =>
  Schema.String.annotate({ expected, format: "uri", ...about(description, example) }).check(
    Schema.makeFilter((text) => parse(text) !== undefined, {
      expected,
      toJsonSchema: () => ({ maxLength: MAX_URL_LENGTH })
    }),
    Schema.makeFilter((text) => {
      const url = parse(text)
      return (url?.username ?? "") === "" && (url?.password ?? "") === "" ? undefined : "must not contain credentials"
    })
  )

const parse = (text: string): URL | undefined => {
  // The parser mends texts that are not URLs by themselves, such as those with spaces around or without slashes.
  if (text.length > MAX_URL_LENGTH || !/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text)
}

export const MAX_WEBHOOK_EVENTS = 100
/** Characters. */
export const MAX_WEBHOOK_SECRET_LENGTH = 512

const optional = Schema.optionalKey

const url = httpUrl("Absolute http or https URL", "https://example.org/hooks/runs")

/**
 * The names that a subscription may list (docs/reference/webhooks.md#webhook-subscriptions): the other types of the log
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
export const NewWebhook = Schema.Struct({
  url,
  events: withDefault(events, []),
  secret,
  format: optional(webhookFormat)
}).annotate({
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
