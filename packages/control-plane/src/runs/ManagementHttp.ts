import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { asCaller } from "../platform/http/CurrentCaller.ts"
import { RunManagement } from "./RunManagement.ts"

/** The `management` group. */
export const ManagementHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "management",
  Effect.fn(function* (handlers) {
    const management = yield* RunManagement
    return handlers.handleAll({
      clone: ({ params, payload }) => asCaller((caller) => management.clone(params.id, payload.tags, caller)),
      archive: ({ params }) => asCaller((caller) => management.archive(params.id, caller)),
      remove: ({ params }) => asCaller((caller) => management.remove(params.id, caller)),
      addArtifact: ({ params, payload }) => asCaller((caller) => management.addArtifact(params.id, payload, caller))
    })
  })
)
