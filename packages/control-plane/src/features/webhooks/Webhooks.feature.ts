import * as Layer from "effect/Layer"
import type { Feature } from "../../Feature.ts"
import { Ids } from "../../platform/Ids.ts"
import { makeDeliveryErasure } from "./DeliveryErasure.ts"
import { makeDeliveryExpiry } from "./DeliveryExpiry.ts"
import { DeliveryQueue, WebhookBacklog } from "./DeliveryQueue.ts"
import { layerWebhookDispatcher } from "./WebhookDispatcher.ts"
import { makeWebhookOutbox } from "./WebhookOutbox.ts"
import { WebhookRepository } from "./WebhookRepository.ts"
import { layerLauncherAddress, WebhookSettings } from "./WebhookSettings.ts"
import { Webhooks, WebhooksHttp } from "./Webhooks.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/** Subscriptions, and the delivery of the outbox (docs/reference/webhooks.md). */
export const webhooks = {
  name: "webhooks",
  tables: ["webhooks", "webhook_deliveries"],
  base: Webhooks.layer.pipe(
    Layer.merge(layerWebhookDispatcher),
    Layer.provide([Ids.layer, WebhookTransport.layer, DeliveryQueue.layer, WebhookRepository.layer]),
    Layer.provide(WebhookSettings.layer),
    Layer.provideMerge(Layer.merge(WebhookBacklog.layer, layerLauncherAddress))
  ),
  reactor: makeWebhookOutbox,
  onErasure: makeDeliveryErasure,
  expiry: makeDeliveryExpiry,
  routes: WebhooksHttp
} satisfies Feature
