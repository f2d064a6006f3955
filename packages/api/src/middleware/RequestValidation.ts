import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { BadRequest, ValidationFailed } from "../errors/ControlPlaneErrors.ts"
import { MalformedBody } from "../errors/LauncherErrors.ts"

/**
 * Turns refused bodies, queries and paths of the control plane into its 400 answers (docs/http.md#validation-texts).
 */
export class RequestValidation extends HttpApiMiddleware.Service<RequestValidation>()(
  "runplane/api/RequestValidation",
  { error: [ValidationFailed, BadRequest] }
) {}

/** The same for the launch service, whose 400 answers carry no code (docs/launch.md#errors). */
export class LaunchValidation extends HttpApiMiddleware.Service<LaunchValidation>()("runplane/api/LaunchValidation", {
  error: MalformedBody
}) {}
