import { ControlPlaneApi, CurrentActor, LauncherApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

const me = Effect.map(CurrentActor, ({ actorId, actorType, name = actorId, role }) => ({
  id: actorId,
  name,
  type: actorType,
  role
}))

/** `GET /me` of the control plane (docs/reference/http.md#roles). */
export const ControlPlaneMeHttp = HttpApiBuilder.group(ControlPlaneApi, "me", (handlers) =>
  handlers.handle("me", () => me)
)

/** `GET /me` of the launch service. */
export const LauncherMeHttp = HttpApiBuilder.group(LauncherApi, "me", (handlers) => handlers.handle("me", () => me))
