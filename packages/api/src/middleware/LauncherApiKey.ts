import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import { TooManyRequests } from "../errors/ControlPlaneErrors.ts"
import { ApiKeyRejected, LaunchForbidden } from "../errors/LauncherErrors.ts"
import type { CurrentActor } from "./Authorization.ts"

const apiKey = HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }).pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "An API key, or a signed token of the configured issuer. A service without configured keys and without an issuer " +
      "needs none"
  )
)

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "A signed token of the configured issuer; an API key goes into `x-api-key`"
  )
)

/**
 * Demands a configured key in `x-api-key`, or a token, of the role that the endpoint needs
 * (docs/reference/http.md#api-keys); implemented in `@runplane/server`.
 */
export class LauncherApiKey extends HttpApiMiddleware.Service<LauncherApiKey, { provides: CurrentActor }>()(
  "runplane/api/LauncherApiKey",
  { security: { apiKey, bearer }, error: [ApiKeyRejected, LaunchForbidden, TooManyRequests] }
) {}
