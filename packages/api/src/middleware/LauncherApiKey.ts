import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import { ApiKeyRejected } from "../errors/LauncherErrors.ts"

const apiKey = HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }).pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "An API key. A service without configured keys asks for none")
)

/** Demands a configured key in `x-api-key`; implemented in `@runplane/server`. */
export class LauncherApiKey extends HttpApiMiddleware.Service<LauncherApiKey>()("runplane/api/LauncherApiKey", {
  security: { apiKey },
  error: ApiKeyRejected
}) {}
