import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { Unauthenticated } from "../errors/ControlPlaneErrors.ts"

/** Who makes the request: written into audit entries (http-details sections 3.4 and 13.1). */
export interface Actor {
  /** `key:<8 hex of the key's SHA-256>`, or `anonymous` when authentication is off. */
  readonly actorId: string
  readonly actorType: "api-key" | "anonymous"
}

export const anonymousActor: Actor = { actorId: "anonymous", actorType: "anonymous" }

/** The actor of the current request; every endpoint behind `Authorization` has it. */
export class CurrentActor extends Context.Service<CurrentActor, Actor>()("runplane/api/CurrentActor") {}

/** Demands a configured API key (run-control-plane "Authentication"); implemented in `server/ApiKeyAuthorization.ts`. */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentActor }>()(
  "runplane/api/Authorization",
  { security: { bearer: HttpApiSecurity.bearer }, error: Unauthenticated }
) {}
