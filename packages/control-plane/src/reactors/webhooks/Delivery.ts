import * as Layer from "effect/Layer"
import { Ids } from "../../platform/Ids.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import { WebhookDispatcher } from "./WebhookDispatcher.ts"
import { WebhookRepository } from "./WebhookRepository.ts"
import { WebhookSettings } from "./WebhookSettings.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/** The webhooks with their worker. Wants the database, the audit log and the metrics from its surroundings. */
export const layer = Webhooks.layer.pipe(
  Layer.provideMerge(WebhookDispatcher.layer),
  Layer.provide([Ids.layer, WebhookTransport.layer, DeliveryQueue.layer, WebhookRepository.layer]),
  Layer.provide(WebhookSettings.layer)
)
