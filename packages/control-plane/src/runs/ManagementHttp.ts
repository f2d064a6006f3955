import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { currentCaller } from "../http/CurrentCaller.ts"
import { RunManagement } from "./RunManagement.ts"

/** The `management` group (http-details sections 4.7 and 4.10). */
export const ManagementHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "management",
  Effect.fn(function* (handlers) {
    const management = yield* RunManagement
    return handlers.handleAll({
      clone: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => management.clone(params.id, payload.tags, caller)),
      archive: ({ params }) => Effect.flatMap(currentCaller, (caller) => management.archive(params.id, caller)),
      remove: ({ params }) => Effect.flatMap(currentCaller, (caller) => management.remove(params.id, caller)),
      addArtifact: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => management.addArtifact(params.id, payload, caller))
    })
  })
)
