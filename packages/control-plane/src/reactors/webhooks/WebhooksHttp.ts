import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { jsonPages } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Webhooks } from "./Webhooks.ts"

/** The webhook endpoints (docs/reference/http.md#webhook-subscriptions). */
export const WebhooksHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "webhooks",
  Effect.fn(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      create: ({ payload }) => asCaller((caller) => webhooks.create(payload, caller)),
      list: () => asCaller(({ actor }) => Effect.map(webhooks.list(actor.role), jsonPages)),
      update: ({ params, payload }) => asCaller((caller) => webhooks.update(params.id, payload, caller)),
      remove: ({ params }) => asCaller((caller) => webhooks.remove(params.id, caller)),
      deliveries: ({ params, query }) => orUnavailable(Effect.map(webhooks.deliveries(params.id, query), jsonPages)),
      test: ({ params }) => asCaller((caller) => webhooks.test(params.id, caller)),
      redeliver: ({ params }) => asCaller((caller) => webhooks.redeliver(params.id, params.deliveryId, caller))
    })
  })
)
