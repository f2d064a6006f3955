import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { TooManyRequests } from "../errors/ControlPlaneErrors.ts"

/** The budget of requests of each client ("Limits" of both specifications); implemented in `@runplane/server`. */
export class RateLimit extends HttpApiMiddleware.Service<RateLimit>()("runplane/api/RateLimit", {
  error: TooManyRequests
}) {}
