import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { UuidParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { Webhook, WebhookDelivery, WebhookDeliveryPage } from "./Webhook.ts"
import { NewWebhook, WebhookChange, webhookDeliveriesQuery } from "./WebhookRequests.ts"

const id = { id: UuidParam }
const created = HttpApiSchema.status(201)

/** Webhook subscriptions and their deliveries. */
export class WebhooksGroup extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("create", "/webhooks", {
      payload: bodySchema(NewWebhook, { unknownKeys: "reject" }),
      success: Webhook.pipe(created),
      error: Failure.RefusedTarget
    }).annotateMerge(
      operation({
        id: "createWebhook",
        access: "admin",
        summary: "Subscribe to events",
        description:
          "Events of runs are then posted to the URL, signed with the secret (see the webhook `runEvent`). This is the only " +
          "answer that shows the secret in full. Where private networks are refused, so is a URL that leads there."
      })
    ),
    HttpApiEndpoint.get("list", "/webhooks", { success: Schema.Array(Webhook) }).annotateMerge(
      operation({
        id: "listWebhooks",
        access: "viewer",
        summary: "List all subscriptions",
        description: "With the counts of their deliveries. Secrets are masked to their last four characters."
      })
    ),
    HttpApiEndpoint.patch("update", "/webhooks/:id", {
      params: id,
      payload: bodySchema(WebhookChange, { unknownKeys: "reject" }),
      success: Webhook,
      error: [Failure.RefusedTarget, Failure.WebhookNotFound]
    }).annotateMerge(
      operation({
        id: "updateWebhook",
        access: "admin",
        summary: "Change a subscription",
        description: "Any subset of the fields. Deliveries under way take the new values with their next attempt."
      })
    ),
    HttpApiEndpoint.delete("remove", "/webhooks/:id", { params: id, success: HttpApiSchema.NoContent }).annotateMerge(
      operation({
        id: "deleteWebhook",
        access: "admin",
        summary: "Remove a subscription",
        description: "Its deliveries go with it. An unknown one counts as removed."
      })
    ),
    HttpApiEndpoint.get("deliveries", "/webhooks/:id/deliveries", {
      params: id,
      query: webhookDeliveriesQuery,
      success: WebhookDeliveryPage,
      error: Failure.WebhookNotFound
    }).annotateMerge(
      operation({
        id: "listDeliveries",
        access: "viewer",
        summary: "List the deliveries of a subscription",
        description: "The latest first, pending ones included."
      })
    ),
    HttpApiEndpoint.post("test", "/webhooks/:id/test", {
      params: id,
      success: WebhookDelivery.pipe(created),
      error: [Failure.WebhookNotFound, Failure.WebhookInactive]
    }).annotateMerge(
      operation({
        id: "testWebhook",
        access: "operator",
        summary: "Send a test",
        description:
          "Sends the event `webhook.test`, whatever events the subscription lists, signed and retried like every other. " +
          "Its `runId` is of no run. The deliveries of the subscription have its outcome."
      })
    ),
    HttpApiEndpoint.post("redeliver", "/webhooks/:id/deliveries/:deliveryId/redeliver", {
      params: { id: UuidParam, deliveryId: UuidParam },
      success: WebhookDelivery.pipe(created),
      error: [Failure.DeliveryNotFound, Failure.WebhookInactive]
    }).annotateMerge(
      operation({
        id: "redeliver",
        access: "admin",
        summary: "Deliver once more",
        description:
          "Sends a delivery again, whatever became of it; one that waits for its next attempt is sent now. The receiver " +
          "knows it by the same `webhook-id`."
      })
    )
  )
  .annotateMerge(tag("Webhooks", "Subscriptions to the life-cycle of runs, and their deliveries")) {}
