import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Dashboard } from "./Dashboard.ts"

/** The `dashboard` group (docs/reference/http.md#dashboard-figures). */
export const DashboardHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "dashboard",
  Effect.fn(function* (handlers) {
    const dashboard = yield* Dashboard

    return handlers.handleAll({
      overview: ({ query }) => orUnavailable(dashboard.overview(query)),
      // Up to ten thousand rows of our own making: checking them against the schema again is not worth its time.
      agents: () => orUnavailable(Effect.map(dashboard.agents, (agents) => HttpServerResponse.jsonUnsafe(agents)))
    })
  })
)
