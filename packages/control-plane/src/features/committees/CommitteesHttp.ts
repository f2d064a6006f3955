import { ControlPlaneApi, runQueryFields } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { CommitteeSearches } from "./CommitteeSearches.ts"
import { Committees } from "./Committees.ts"

/** The `committees` group (docs/reference/committees.md). */
export const CommitteesHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "committees",
  Effect.fnUntraced(function* (handlers) {
    const committees = yield* Committees
    const searches = yield* CommitteeSearches
    const refused = orSearchRefused(runQueryFields)
    return handlers.handleAll({
      independence: ({ query }) => orUnavailable(refused(committees.independence(query))),
      seats: ({ query }) => orUnavailable(refused(committees.worth(query))),
      search: ({ payload }) => asCaller((caller) => refused(searches.search(payload, caller)))
    })
  })
)
