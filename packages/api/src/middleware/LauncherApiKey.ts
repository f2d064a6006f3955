import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { TooManyRequests } from "../errors/ControlPlaneErrors.ts"
import { ApiKeyRejected, LaunchForbidden } from "../errors/LauncherErrors.ts"
import { type CurrentActor, securitySchemes } from "./Authorization.ts"

/** Demands a configured key of the role that the endpoint needs, as the control plane does; in `@runplane/server`. */
export class LauncherApiKey extends HttpApiMiddleware.Service<LauncherApiKey, { provides: CurrentActor }>()(
  "runplane/api/LauncherApiKey",
  { security: securitySchemes, error: [ApiKeyRejected, LaunchForbidden, TooManyRequests] }
) {}
