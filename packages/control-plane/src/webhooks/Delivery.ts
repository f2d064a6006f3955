import * as Layer from "effect/Layer"
import { AuditTrail } from "../admin/AuditTrail.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import { WebhookDispatcher } from "./WebhookDispatcher.ts"
import { WebhookRepository } from "./WebhookRepository.ts"
import { WebhookSettings } from "./WebhookSettings.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/** The webhooks with their worker. Wants the database, the log's readers and the metrics from its surroundings. */
export const layerWebhooks = Webhooks.layerNoDeps.pipe(
  Layer.provideMerge(WebhookDispatcher.layerNoDeps),
  Layer.provide([WebhookTransport.layer, DeliveryQueue.layer, WebhookRepository.layer, AuditTrail.layer]),
  Layer.provide(WebhookSettings.layer)
)
