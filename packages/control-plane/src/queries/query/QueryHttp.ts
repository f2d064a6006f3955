import { ControlPlaneApi, type QueryResource, queryFields } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

const described = (resource: QueryResource) => ({ resource, fields: queryFields[resource] })

/** `GET /query/fields` (docs/reference/search.md#query). */
export const QueryHttp = HttpApiBuilder.group(ControlPlaneApi, "query", (handlers) =>
  Effect.succeed(handlers.handle("fields", ({ query }) => Effect.succeed(described(query.resource))))
)
