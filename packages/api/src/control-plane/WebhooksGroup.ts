import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { UuidParam } from "../validation/UuidParam.ts"
import { Webhook, WebhookDelivery, WebhookDeliveryPage } from "./Webhook.ts"
import { webhookChangeRule, webhookDeliveriesQuery, webhookRule } from "./WebhookRequests.ts"

const id = { id: UuidParam }
const created = HttpApiSchema.status(201)

/** Webhook subscriptions and their deliveries (run-control-plane "Webhooks"; http-details sections 12 and 15). */
export class WebhooksGroup extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("create", "/webhooks", {
      payload: bodySchema(webhookRule),
      success: Webhook.pipe(created),
      error: BadRequest
    }).annotateMerge(
      requestDescription({ summary: "Subscribe to events", body: { name: "NewWebhook", rule: webhookRule } })
    ),
    HttpApiEndpoint.get("list", "/webhooks", { success: Schema.Array(Webhook) }).annotateMerge(
      summary("List all subscriptions")
    ),
    HttpApiEndpoint.patch("update", "/webhooks/:id", {
      params: id,
      payload: bodySchema(webhookChangeRule),
      success: Webhook,
      error: [BadRequest, NotFound]
    }).annotateMerge(
      requestDescription({ summary: "Change a subscription", body: { name: "WebhookChange", rule: webhookChangeRule } })
    ),
    HttpApiEndpoint.delete("remove", "/webhooks/:id", { params: id, success: HttpApiSchema.NoContent }).annotateMerge(
      summary("Remove a subscription with its deliveries; an unknown one is removed already")
    ),
    HttpApiEndpoint.get("deliveries", "/webhooks/:id/deliveries", {
      params: id,
      query: webhookDeliveriesQuery.schema,
      success: WebhookDeliveryPage,
      error: NotFound
    }).annotateMerge(
      requestDescription({ summary: "List the deliveries of a subscription", query: webhookDeliveriesQuery.rule })
    ),
    HttpApiEndpoint.post("redeliver", "/webhooks/:id/deliveries/:deliveryId/redeliver", {
      params: { id: UuidParam, deliveryId: UuidParam },
      success: WebhookDelivery.pipe(created),
      error: [NotFound, Conflict]
    }).annotateMerge(summary("Deliver once more, or now when it waits for its next attempt"))
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
