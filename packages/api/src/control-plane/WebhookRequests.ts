import { boolean, oneOf, string, strings } from "../validation/BodyRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { queryInteger } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional, type Rule, type RuleValue, withDefault } from "../validation/Rule.ts"
import { httpUrl } from "../validation/UrlRule.ts"
import { webhookDeliveryStatuses, webhookEvents } from "./Webhook.ts"

export const MAX_WEBHOOK_EVENTS = 100
/** Characters. */
export const MAX_WEBHOOK_SECRET_LENGTH = 512

const reject = { unknownKeys: "reject" } as const

/** Event names of any text, because readers offer names that do not exist; only their number is bounded. */
const events = (): Rule<ReadonlyArray<string>> => {
  const rule = strings()
  return {
    ...rule,
    jsonSchema: { ...rule.jsonSchema, maxItems: MAX_WEBHOOK_EVENTS },
    check: (value, place, report) => {
      if (Array.isArray(value) && value.length > MAX_WEBHOOK_EVENTS) {
        report(`${place.prefix}${place.key} must contain no more than ${MAX_WEBHOOK_EVENTS} elements`)
        return undefined
      }
      return rule.check(value, place, report)
    }
  }
}

const url = () => described(httpUrl(), "Absolute http or https URL", "https://example.org/hooks/runs")
const eventNames = () => described(events(), `Of ${webhookEvents.join(", ")}; empty means all`, ["run.completed"])
const secret = () =>
  described(
    string({ notEmpty: "last", maxLength: MAX_WEBHOOK_SECRET_LENGTH }),
    "Signs every delivery; with the prefix whsec_ its rest is taken as a base64 key for webhook-signature",
    "correct horse battery staple"
  )

/** The body of `POST /webhooks` (http-details section 12). */
export const webhookRule = object({ url: url(), events: withDefault(eventNames(), []), secret: secret() }, reject)
export type NewWebhook = RuleValue<typeof webhookRule>

/** The body of `PATCH /webhooks/:id`: any subset. */
export const webhookChangeRule = object(
  {
    url: optional(url()),
    events: optional(eventNames()),
    secret: optional(secret()),
    active: described(optional(boolean()), "An inactive subscription keeps its pending deliveries until it is active")
  },
  reject
)
export type WebhookChange = RuleValue<typeof webhookChangeRule>

export const MAX_DELIVERY_PAGE = 200
export const DEFAULT_DELIVERY_PAGE = 50

/** The query of `GET /webhooks/:id/deliveries`. */
export const webhookDeliveriesQuery = querySchema({
  status: described(optional(oneOf(webhookDeliveryStatuses)), "Only deliveries with this status", "failed"),
  limit: described(
    withDefault(queryInteger({ min: 1, max: MAX_DELIVERY_PAGE }), DEFAULT_DELIVERY_PAGE),
    "Most deliveries of the page",
    DEFAULT_DELIVERY_PAGE
  ),
  offset: described(withDefault(queryInteger({ min: 0 }), 0), "Matches to leave out before the page", 0)
})
export type WebhookDeliveriesQuery = typeof webhookDeliveriesQuery.schema.Type
