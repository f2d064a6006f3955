import { ControlPlaneApi, CurrentActor, isVoter, LauncherApi, mayUse } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { readSettings } from "../settings/ReadSettings.ts"
import { RuntimeSettings } from "../settings/RuntimeSettings.ts"

const me = Effect.map(CurrentActor, (actor) => {
  const { actorId, actorType, name = actorId, role } = actor
  return { id: actorId, name, type: actorType, role, ...(isVoter(actor) && { isVoter: true }) }
})

/** The name that the credentials of the settings have at the runtime; undefined for a static bearer, or none. */
const runtimeIdentity = Effect.map(
  readSettings({
    bearer: RuntimeSettings.RUNTIME_BEARER_TOKEN,
    devAgentId: RuntimeSettings.RUNTIME_DEV_AGENT_ID,
    sender: RuntimeSettings.PROTO_AUTH_TOKEN_SENDER,
    tokens: RuntimeSettings.PROTO_AUTH_SERVICE_URL,
    useDevHeader: RuntimeSettings.RUNTIME_USE_DEV_HEADER
  }),
  ({ bearer, devAgentId, sender, tokens, useDevHeader }) =>
    tokens !== undefined ? sender : bearer === undefined && useDevHeader ? devAgentId : undefined
)

/** `GET /me` of the control plane (docs/reference/http.md#roles). */
export const ControlPlaneMeHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "me",
  Effect.fnUntraced(function* (handlers) {
    const identity = yield* runtimeIdentity
    return handlers.handle("me", () =>
      Effect.map(me, (caller) =>
        // A key that only sends telemetry, or only answers questions, reads nothing about the deployment.
        identity === undefined || !mayUse(caller.role, "viewer") ? caller : { ...caller, runtimeIdentity: identity }
      )
    )
  })
)

/** `GET /me` of the launch service. */
export const LauncherMeHttp = HttpApiBuilder.group(LauncherApi, "me", (handlers) => handlers.handle("me", () => me))
