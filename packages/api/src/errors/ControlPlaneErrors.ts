import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { errorTable, failureWith, type Raised } from "./ErrorTables.ts"
import { reasonPhrases } from "./ReasonPhrases.ts"

/**
 * The control plane's errors, one class for each HTTP status; the body is
 * `{statusCode, errorCode, message, metadata?, error?}` (docs/reference/errors.md#error-bodies). Fail a handler with
 * `controlPlaneError(code, message)`, or with one of the named constructors of `Failures.ts`.
 */
const failure = failureWith({
  metadata: Schema.optionalKey(Field.object("More about it; of a failed runtime call {grpcCode}")),
  error: Schema.optionalKey(Field.text("The reason phrase of the status, where the form of older servers has it"))
})

export class BadRequest extends failure<BadRequest>()(400, "BadRequest", [
  "VALIDATION_ERROR",
  "MODE_NOT_SUPPORTED",
  "INVALID_SESSION_ID",
  "UNKNOWN_POLICY_VERSION",
  "INVALID_POLICY_DEFINITION"
]) {
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

export class Unauthenticated extends failure<Unauthenticated>()(401, "Unauthenticated", ["UNAUTHENTICATED"]) {
  readonly _tag = "Unauthenticated"
}

export class Forbidden extends failure<Forbidden>()(403, "Forbidden", ["FORBIDDEN", "POLICY_DENIED"]) {
  readonly _tag = "Forbidden"
}

export class NotFound extends failure<NotFound>()(404, "NotFound", ["RUN_NOT_FOUND", "NOT_FOUND"]) {
  readonly _tag = "NotFound"
}

export class MethodNotAllowed extends failure<MethodNotAllowed>()(405, "MethodNotAllowed", [
  "REGISTRY_READ_ONLY",
  "METHOD_NOT_ALLOWED"
]) {
  readonly _tag = "MethodNotAllowed"
}

export class Conflict extends failure<Conflict>()(409, "Conflict", [
  "INVALID_STATE_TRANSITION",
  "SESSION_ALREADY_EXISTS",
  "SESSION_EXPIRED",
  "SESSION_LOST",
  "BUDGET_EXHAUSTED",
  "CONFLICT"
]) {
  readonly _tag = "Conflict"
}

export class EndpointRemoved extends failure<EndpointRemoved>()(410, "EndpointRemoved", ["ENDPOINT_REMOVED"]) {
  readonly _tag = "EndpointRemoved"
}

export class PayloadTooLarge extends failure<PayloadTooLarge>()(413, "PayloadTooLarge", ["PAYLOAD_TOO_LARGE"]) {
  readonly _tag = "PayloadTooLarge"
}

export class UnsupportedMediaType extends failure<UnsupportedMediaType>()(415, "UnsupportedMediaType", [
  "UNSUPPORTED_MEDIA_TYPE"
]) {
  readonly _tag = "UnsupportedMediaType"
}

/** `RATE_LIMITED` is the runtime's limit; the service's own limit answers with `INTERNAL_ERROR`. */
export class TooManyRequests extends failure<TooManyRequests>()(
  429,
  "TooManyRequests",
  ["RATE_LIMITED"],
  ["INTERNAL_ERROR"]
) {
  readonly _tag = "TooManyRequests"
}

export class InternalFailure extends failure<InternalFailure>()(500, "InternalFailure", ["INTERNAL_ERROR"]) {
  readonly _tag = "InternalFailure"
}

export class NotImplemented extends failure<NotImplemented>()(501, "NotImplemented", ["NOT_IMPLEMENTED"]) {
  readonly _tag = "NotImplemented"
}

export class BadGateway extends failure<BadGateway>()(502, "BadGateway", ["STREAM_EXHAUSTED"], ["INTERNAL_ERROR"]) {
  readonly _tag = "BadGateway"
}

export class Unavailable extends failure<Unavailable>()(503, "Unavailable", [
  "RUNTIME_UNAVAILABLE",
  "CIRCUIT_BREAKER_OPEN",
  "SERVICE_UNAVAILABLE"
]) {
  readonly _tag = "Unavailable"
}

export class GatewayTimeout extends failure<GatewayTimeout>()(504, "GatewayTimeout", ["RUNTIME_TIMEOUT"]) {
  readonly _tag = "GatewayTimeout"
}

/**
 * The classes, each with its codes (docs/reference/errors.md#error-codes). `INTERNAL_ERROR` also goes with 502
 * (a cancel callback that failed) and with 429 (the service's own rate limit).
 */
const classes = [
  BadRequest,
  Unauthenticated,
  Forbidden,
  NotFound,
  MethodNotAllowed,
  Conflict,
  EndpointRemoved,
  PayloadTooLarge,
  UnsupportedMediaType,
  TooManyRequests,
  InternalFailure,
  NotImplemented,
  BadGateway,
  Unavailable,
  GatewayTimeout
] as const

const table = errorTable(classes)

export type ControlPlaneErrorCode = keyof Raised<typeof classes>

/** The HTTP status that every code is answered with. */
export const controlPlaneErrorStatus = table.status

export type ErrorOfCode<Code extends ControlPlaneErrorCode> = Raised<typeof classes>[Code]

/** Any error of the control plane, except the list of a failed validation. */
export type ControlPlaneError = ErrorOfCode<ControlPlaneErrorCode>

/** The error of a code: its class and its HTTP status follow from the code. */
export const controlPlaneError = table.make

export const controlPlaneErrorCodes = Object.keys(controlPlaneErrorStatus).filter(
  (code): code is ControlPlaneErrorCode => code in controlPlaneErrorStatus
)
