import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

export const Query = HttpApiBuilder.group(ControlPlaneApi, "query", (handlers) =>
  handlers.handle("fields", ({ query }) => Effect.succeed({ resource: query.resource, fields: [] }))
)
