import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { type ControlPlaneErrorCode, controlPlaneErrorStatus, reasonPhrases } from "./ErrorCodes.ts"

/**
 * The control plane's errors, one class for each HTTP status; the body is
 * `{statusCode, errorCode, message, metadata?, error?}` (http-details section 3.2). Fail a handler with
 * `controlPlaneError(code, message)`, or with one of the named constructors of `Failures.ts`.
 */
const body = <const Status extends number, const Codes extends ReadonlyArray<ControlPlaneErrorCode>>(
  status: Status,
  codes: Codes,
  identifier: string
) =>
  Schema.Struct({
    statusCode: Schema.tag(status).annotate({ description: "The HTTP status" }),
    errorCode: Schema.Literals(codes).annotate({ description: "What went wrong, for programs" }),
    message: Field.text("What went wrong, for people"),
    metadata: Schema.optionalKey(Field.object("More about it; of a failed runtime call {grpcCode}")),
    error: Schema.optionalKey(Field.text("The reason phrase of the status, where the form of older servers has it"))
  }).annotate({ identifier, description: `An error answered with ${status}` })

export class BadRequest extends Schema.Error<BadRequest>("runplane/api/BadRequest")(
  body(
    400,
    [
      "VALIDATION_ERROR",
      "MODE_NOT_SUPPORTED",
      "INVALID_SESSION_ID",
      "UNKNOWN_POLICY_VERSION",
      "INVALID_POLICY_DEFINITION"
    ],
    "BadRequest"
  ),
  { httpApiStatus: 400, description: "A malformed request, or one that the state of things does not allow" }
) {
  readonly _tag = "BadRequest"
}

/** A body or a query that broke rules: `message` lists every broken rule. */
export class ValidationFailed extends Schema.Class<ValidationFailed>("runplane/api/ValidationFailed")(
  Schema.Struct({
    statusCode: Schema.tag(400).annotate({ description: "The HTTP status" }),
    errorCode: Schema.tag("VALIDATION_ERROR").annotate({ description: "What went wrong, for programs" }),
    message: Field.texts("Every broken rule", ["mode must be one of the following values: live, sandbox"]),
    error: Schema.tag(reasonPhrases[400]).annotate({ description: "The reason phrase of the status" })
  }).annotate({ identifier: "ValidationFailed", description: "A body or a query that breaks rules" }),
  { httpApiStatus: 400, description: "A body or query that broke rules; message lists them" }
) {
  readonly _tag = "ValidationFailed"
}

export class Unauthenticated extends Schema.Error<Unauthenticated>("runplane/api/Unauthenticated")(
  body(401, ["UNAUTHENTICATED"], "Unauthenticated"),
  { httpApiStatus: 401, description: "No valid API key, or the runtime refused the service's own" }
) {
  readonly _tag = "Unauthenticated"
}

export class Forbidden extends Schema.Error<Forbidden>("runplane/api/Forbidden")(
  body(403, ["FORBIDDEN", "POLICY_DENIED"], "Forbidden"),
  { httpApiStatus: 403, description: "Refused by the runtime or by a policy" }
) {
  readonly _tag = "Forbidden"
}

export class NotFound extends Schema.Error<NotFound>("runplane/api/NotFound")(
  body(404, ["RUN_NOT_FOUND", "NOT_FOUND"], "NotFound"),
  { httpApiStatus: 404, description: "No such thing" }
) {
  readonly _tag = "NotFound"
}

export class MethodNotAllowed extends Schema.Error<MethodNotAllowed>("runplane/api/MethodNotAllowed")(
  body(405, ["REGISTRY_READ_ONLY"], "MethodNotAllowed"),
  { httpApiStatus: 405, description: "The policy registry is read-only" }
) {
  readonly _tag = "MethodNotAllowed"
}

export class Conflict extends Schema.Error<Conflict>("runplane/api/Conflict")(
  body(409, ["INVALID_STATE_TRANSITION", "SESSION_ALREADY_EXISTS", "SESSION_EXPIRED", "CONFLICT"], "Conflict"),
  { httpApiStatus: 409, description: "The state of the thing does not allow this" }
) {
  readonly _tag = "Conflict"
}

export class EndpointRemoved extends Schema.Error<EndpointRemoved>("runplane/api/EndpointRemoved")(
  body(410, ["ENDPOINT_REMOVED"], "EndpointRemoved"),
  { httpApiStatus: 410, description: "This endpoint was removed" }
) {
  readonly _tag = "EndpointRemoved"
}

export class PayloadTooLarge extends Schema.Error<PayloadTooLarge>("runplane/api/PayloadTooLarge")(
  body(413, ["PAYLOAD_TOO_LARGE"], "PayloadTooLarge"),
  { httpApiStatus: 413, description: "The body is over 1 MB" }
) {
  readonly _tag = "PayloadTooLarge"
}

export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("runplane/api/UnsupportedMediaType")(
  body(415, ["UNSUPPORTED_MEDIA_TYPE"], "UnsupportedMediaType"),
  { httpApiStatus: 415, description: "The body is not JSON" }
) {
  readonly _tag = "UnsupportedMediaType"
}

/** `RATE_LIMITED` is the runtime's limit; the service's own limit answers with `INTERNAL_ERROR`. */
export class TooManyRequests extends Schema.Error<TooManyRequests>("runplane/api/TooManyRequests")(
  body(429, ["INTERNAL_ERROR", "RATE_LIMITED"], "TooManyRequests"),
  { httpApiStatus: 429, description: "Over the rate limit of this service or of the runtime" }
) {
  readonly _tag = "TooManyRequests"
}

export class InternalFailure extends Schema.Error<InternalFailure>("runplane/api/InternalFailure")(
  body(500, ["INTERNAL_ERROR"], "InternalFailure"),
  { httpApiStatus: 500, description: "A fault of the service or of the runtime" }
) {
  readonly _tag = "InternalFailure"
}

export class NotImplemented extends Schema.Error<NotImplemented>("runplane/api/NotImplemented")(
  body(501, ["NOT_IMPLEMENTED"], "NotImplemented"),
  { httpApiStatus: 501, description: "The runtime does not know this operation" }
) {
  readonly _tag = "NotImplemented"
}

export class BadGateway extends Schema.Error<BadGateway>("runplane/api/BadGateway")(
  body(502, ["INTERNAL_ERROR", "STREAM_EXHAUSTED"], "BadGateway"),
  { httpApiStatus: 502, description: "A callee answered wrongly" }
) {
  readonly _tag = "BadGateway"
}

export class Unavailable extends Schema.Error<Unavailable>("runplane/api/Unavailable")(
  body(503, ["RUNTIME_UNAVAILABLE", "CIRCUIT_BREAKER_OPEN", "SERVICE_UNAVAILABLE"], "Unavailable"),
  { httpApiStatus: 503, description: "The runtime cannot be reached, or is not asked at the moment" }
) {
  readonly _tag = "Unavailable"
}

export class GatewayTimeout extends Schema.Error<GatewayTimeout>("runplane/api/GatewayTimeout")(
  body(504, ["RUNTIME_TIMEOUT"], "GatewayTimeout"),
  { httpApiStatus: 504, description: "The runtime did not answer in time" }
) {
  readonly _tag = "GatewayTimeout"
}

interface ErrorDetails {
  readonly message: string
  readonly metadata?: Schema.JsonObject
  readonly error?: string
}

/** How an error of each code is made: the one place where a code meets its class. */
const constructors = {
  RUN_NOT_FOUND: (details: ErrorDetails) => new NotFound({ errorCode: "RUN_NOT_FOUND", ...details }),
  INVALID_STATE_TRANSITION: (details: ErrorDetails) =>
    new Conflict({ errorCode: "INVALID_STATE_TRANSITION", ...details }),
  RUNTIME_UNAVAILABLE: (details: ErrorDetails) => new Unavailable({ errorCode: "RUNTIME_UNAVAILABLE", ...details }),
  RUNTIME_TIMEOUT: (details: ErrorDetails) => new GatewayTimeout({ errorCode: "RUNTIME_TIMEOUT", ...details }),
  STREAM_EXHAUSTED: (details: ErrorDetails) => new BadGateway({ errorCode: "STREAM_EXHAUSTED", ...details }),
  SESSION_EXPIRED: (details: ErrorDetails) => new Conflict({ errorCode: "SESSION_EXPIRED", ...details }),
  VALIDATION_ERROR: (details: ErrorDetails) => new BadRequest({ errorCode: "VALIDATION_ERROR", ...details }),
  INTERNAL_ERROR: (details: ErrorDetails) => new InternalFailure({ errorCode: "INTERNAL_ERROR", ...details }),
  MODE_NOT_SUPPORTED: (details: ErrorDetails) => new BadRequest({ errorCode: "MODE_NOT_SUPPORTED", ...details }),
  CIRCUIT_BREAKER_OPEN: (details: ErrorDetails) => new Unavailable({ errorCode: "CIRCUIT_BREAKER_OPEN", ...details }),
  INVALID_SESSION_ID: (details: ErrorDetails) => new BadRequest({ errorCode: "INVALID_SESSION_ID", ...details }),
  UNKNOWN_POLICY_VERSION: (details: ErrorDetails) =>
    new BadRequest({ errorCode: "UNKNOWN_POLICY_VERSION", ...details }),
  POLICY_DENIED: (details: ErrorDetails) => new Forbidden({ errorCode: "POLICY_DENIED", ...details }),
  INVALID_POLICY_DEFINITION: (details: ErrorDetails) =>
    new BadRequest({ errorCode: "INVALID_POLICY_DEFINITION", ...details }),
  SESSION_ALREADY_EXISTS: (details: ErrorDetails) => new Conflict({ errorCode: "SESSION_ALREADY_EXISTS", ...details }),
  FORBIDDEN: (details: ErrorDetails) => new Forbidden({ errorCode: "FORBIDDEN", ...details }),
  NOT_FOUND: (details: ErrorDetails) => new NotFound({ errorCode: "NOT_FOUND", ...details }),
  CONFLICT: (details: ErrorDetails) => new Conflict({ errorCode: "CONFLICT", ...details }),
  UNAUTHENTICATED: (details: ErrorDetails) => new Unauthenticated({ errorCode: "UNAUTHENTICATED", ...details }),
  NOT_IMPLEMENTED: (details: ErrorDetails) => new NotImplemented({ errorCode: "NOT_IMPLEMENTED", ...details }),
  RATE_LIMITED: (details: ErrorDetails) => new TooManyRequests({ errorCode: "RATE_LIMITED", ...details }),
  ENDPOINT_REMOVED: (details: ErrorDetails) => new EndpointRemoved({ errorCode: "ENDPOINT_REMOVED", ...details }),
  SERVICE_UNAVAILABLE: (details: ErrorDetails) => new Unavailable({ errorCode: "SERVICE_UNAVAILABLE", ...details }),
  PAYLOAD_TOO_LARGE: (details: ErrorDetails) => new PayloadTooLarge({ errorCode: "PAYLOAD_TOO_LARGE", ...details }),
  UNSUPPORTED_MEDIA_TYPE: (details: ErrorDetails) =>
    new UnsupportedMediaType({ errorCode: "UNSUPPORTED_MEDIA_TYPE", ...details }),
  REGISTRY_READ_ONLY: (details: ErrorDetails) => new MethodNotAllowed({ errorCode: "REGISTRY_READ_ONLY", ...details })
} as const satisfies Record<ControlPlaneErrorCode, (details: ErrorDetails) => { readonly statusCode: number }>

export type ErrorOfCode<Code extends ControlPlaneErrorCode> = ReturnType<(typeof constructors)[Code]>

/** Any error of the control plane, except the list of a failed validation. */
export type ControlPlaneError = ErrorOfCode<ControlPlaneErrorCode>

/** The codes that only the edge and the removed endpoints answer with. */
type EdgeErrorCode = "ENDPOINT_REMOVED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE"

/** What a capability may fail with: exactly what the endpoints that talk to the runtime declare. */
export type CapabilityError = ErrorOfCode<Exclude<ControlPlaneErrorCode, EdgeErrorCode>>

/** The error of a code: its class and its HTTP status follow from the code. */
export const controlPlaneError = <const Code extends ControlPlaneErrorCode>(
  code: Code,
  message: string,
  metadata?: Schema.JsonObject
): ErrorOfCode<Code> => {
  const make: (details: ErrorDetails) => ControlPlaneError = constructors[code]
  // The constructor found under a code makes that code's error; TypeScript does not follow the lookup.
  return make(metadata === undefined ? { message } : { message, metadata }) as ErrorOfCode<Code>
}

export const controlPlaneErrorCodes = Object.keys(controlPlaneErrorStatus).filter(
  (code): code is ControlPlaneErrorCode => code in controlPlaneErrorStatus
)

/** The errors that an endpoint which talks to the runtime may answer with (http-details section 3.2, second table). */
export const runtimeErrors = [
  Unauthenticated,
  Forbidden,
  MethodNotAllowed,
  TooManyRequests,
  InternalFailure,
  NotImplemented,
  BadGateway,
  Unavailable,
  GatewayTimeout
] as const
