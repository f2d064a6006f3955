import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { BadRequest, ValidationFailed } from "../errors/ControlPlaneErrors.ts"

/**
 * Turns refused bodies, queries and paths of the control plane into its 400 answers
 * (docs/reference/errors.md#validation-texts).
 */
export class RequestValidation extends HttpApiMiddleware.Service<RequestValidation>()(
  "runplane/api/RequestValidation",
  { error: [ValidationFailed, BadRequest] }
) {}
