import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { errorTable, type MadeBy } from "./ErrorTables.ts"
import { reasonPhrases } from "./ReasonPhrases.ts"

/**
 * The control plane's errors, one class for each HTTP status; the body is
 * `{statusCode, errorCode, message, metadata?, error?}` (docs/http.md#error-bodies). Fail a handler with
 * `controlPlaneError(code, message)`, or with one of the named constructors of `Failures.ts`.
 */
const body = <const Status extends number, const Codes extends ReadonlyArray<string>>(
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

/**
 * The class of every `errorCode`, which has its status (docs/http.md#error-codes). `INTERNAL_ERROR` also goes with 502
 * (a cancel callback that failed) and with 429 (the service's own rate limit).
 */
const classes = {
  RUN_NOT_FOUND: NotFound,
  INVALID_STATE_TRANSITION: Conflict,
  RUNTIME_UNAVAILABLE: Unavailable,
  RUNTIME_TIMEOUT: GatewayTimeout,
  STREAM_EXHAUSTED: BadGateway,
  SESSION_EXPIRED: Conflict,
  VALIDATION_ERROR: BadRequest,
  INTERNAL_ERROR: InternalFailure,
  MODE_NOT_SUPPORTED: BadRequest,
  CIRCUIT_BREAKER_OPEN: Unavailable,
  INVALID_SESSION_ID: BadRequest,
  UNKNOWN_POLICY_VERSION: BadRequest,
  POLICY_DENIED: Forbidden,
  INVALID_POLICY_DEFINITION: BadRequest,
  SESSION_ALREADY_EXISTS: Conflict,
  FORBIDDEN: Forbidden,
  NOT_FOUND: NotFound,
  CONFLICT: Conflict,
  UNAUTHENTICATED: Unauthenticated,
  NOT_IMPLEMENTED: NotImplemented,
  RATE_LIMITED: TooManyRequests,
  ENDPOINT_REMOVED: EndpointRemoved,
  SERVICE_UNAVAILABLE: Unavailable,
  PAYLOAD_TOO_LARGE: PayloadTooLarge,
  UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType,
  REGISTRY_READ_ONLY: MethodNotAllowed
} as const

const table = errorTable(classes)

export type ControlPlaneErrorCode = keyof typeof classes

/** The HTTP status that every code is answered with. */
export const controlPlaneErrorStatus = table.status

export type ErrorOfCode<Code extends ControlPlaneErrorCode> = MadeBy<(typeof classes)[Code]>

/** Any error of the control plane, except the list of a failed validation. */
export type ControlPlaneError = ErrorOfCode<ControlPlaneErrorCode>

/** The codes that only the edge and the removed endpoints answer with. */
type EdgeErrorCode = "ENDPOINT_REMOVED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE"

/** What a capability may fail with: exactly what the endpoints that talk to the runtime declare. */
export type CapabilityError = ErrorOfCode<Exclude<ControlPlaneErrorCode, EdgeErrorCode>>

/** The error of a code: its class and its HTTP status follow from the code. */
export const controlPlaneError = table.make

export const controlPlaneErrorCodes = Object.keys(controlPlaneErrorStatus).filter(
  (code): code is ControlPlaneErrorCode => code in controlPlaneErrorStatus
)

/** The errors that an endpoint which talks to the runtime may answer with (docs/http.md#runtime-errors). */
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
