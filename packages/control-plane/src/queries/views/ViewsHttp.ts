import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { jsonPages } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Views } from "./Views.ts"

/** The endpoints of saved views (docs/reference/http.md#views). */
export const ViewsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "views",
  Effect.fn(function* (handlers) {
    const views = yield* Views
    return handlers.handleAll({
      list: ({ query }) => orUnavailable(Effect.map(views.list(query.resource), jsonPages)),
      create: ({ payload }) => asCaller((caller) => views.create(payload, caller)),
      update: ({ params, payload }) => asCaller((caller) => views.update(params.id, payload, caller)),
      remove: ({ params }) => asCaller((caller) => views.remove(params.id, caller))
    })
  })
)
