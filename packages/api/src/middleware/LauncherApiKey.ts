import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { ApiKeyRejected } from "../errors/LauncherErrors.ts"

/** Demands a configured key in `x-api-key` (scenario-launch-service "Authentication"); `server/LauncherApiKeyGuard.ts`. */
export class LauncherApiKey extends HttpApiMiddleware.Service<LauncherApiKey>()("runplane/api/LauncherApiKey", {
  security: { apiKey: HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }) },
  error: ApiKeyRejected
}) {}
