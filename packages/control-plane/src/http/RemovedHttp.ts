import { ControlPlaneApi, endpointRemoved } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

/** The former emission endpoints, which always answer 410 (docs/reference/http.md#removed-endpoints). */
export const RemovedHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "removed",
  Effect.fn(function* (handlers) {
    return yield* Effect.succeed(
      handlers.handleAll({
        messages: () => Effect.fail(endpointRemoved("POST /runs/:id/messages")),
        signal: () => Effect.fail(endpointRemoved("POST /runs/:id/signal")),
        context: () => Effect.fail(endpointRemoved("POST /runs/:id/context"))
      })
    )
  })
)
