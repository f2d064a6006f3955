import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { MalformedBody } from "../errors/LauncherErrors.ts"

/**
 * Turns refused bodies, queries and paths of the launch service into its 400 answers, which carry no code
 * (docs/internals/launch.md#errors).
 */
export class LaunchValidation extends HttpApiMiddleware.Service<LaunchValidation>()("runplane/api/LaunchValidation", {
  error: MalformedBody
}) {}
