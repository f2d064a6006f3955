import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { ErasureJobs } from "./ErasureJobs.ts"
import { TextErasures } from "./TextErasures.ts"

/** The `erasures` group. */
export const ErasuresHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "erasures",
  Effect.fnUntraced(function* (handlers) {
    const erasures = yield* TextErasures
    const jobs = yield* ErasureJobs
    return handlers.handleAll({
      erase: ({ params, payload }) => asCaller((caller) => erasures.erase(params.id, payload, caller)),
      eraseFromRuns: ({ payload }) => asCaller((caller) => jobs.create(payload, caller)),
      list: () => orUnavailable(jobs.list),
      get: ({ params }) => orUnavailable(jobs.get(params.id))
    })
  })
)
