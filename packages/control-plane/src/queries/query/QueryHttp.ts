import { ControlPlaneApi, type QueryResource, queryFields, runQueryFields } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { RunList } from "../runs/RunList.ts"

const described = (resource: QueryResource) => ({ resource, fields: queryFields[resource] })

/** `GET /query/fields` (docs/reference/search.md#query) and `GET /runs/facets` (docs/reference/search.md#facets). */
export const QueryHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "query",
  Effect.fnUntraced(function* (handlers) {
    const runs = yield* RunList
    return handlers.handleAll({
      fields: ({ query }) => Effect.succeed(described(query.resource)),
      facets: ({ query }) => runs.facets(query).pipe(orSearchRefused(runQueryFields), orUnavailable)
    })
  })
)
