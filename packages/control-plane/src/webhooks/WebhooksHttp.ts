import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { currentCaller } from "../http/CurrentCaller.ts"
import { Webhooks } from "./Webhooks.ts"

/** The webhook endpoints (run-control-plane "Webhooks"). */
export const WebhooksHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "webhooks",
  Effect.fn(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      create: ({ payload }) => Effect.flatMap(currentCaller, (caller) => webhooks.create(payload, caller)),
      list: () => webhooks.list,
      update: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => webhooks.update(params.id, payload, caller)),
      remove: ({ params }) => Effect.flatMap(currentCaller, (caller) => webhooks.remove(params.id, caller)),
      deliveries: ({ params, query }) => webhooks.deliveries(params.id, query),
      redeliver: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => webhooks.redeliver(params.id, params.deliveryId, caller))
    })
  })
)
