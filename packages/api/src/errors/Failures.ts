import { GRPC_CODES, type GrpcStatusName, type RunStatus, usdTexts } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import type { Role } from "../caller/Access.ts"
import {
  BadGateway,
  BadRequest,
  controlPlaneError,
  type ErrorOfCode,
  InternalFailure,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  TooManyRequests,
  Unauthenticated,
  UnsupportedMediaType
} from "./ControlPlaneErrors.ts"
import { reasonPhrases } from "./ReasonPhrases.ts"

/** The failures with their texts, written once (docs/reference/errors.md#error-texts). */

export const runNotFound = (id: string) => controlPlaneError("RUN_NOT_FOUND", `run ${id} not found`)

/** A run that has left the database. */
export const runReadOnly = (id: string) =>
  controlPlaneError("CONFLICT", `run ${id} is read-only: it has left the database and is read from the archive`)

/** A second artifact of an idempotency key. */
export const artifactConflict = (key: string) =>
  controlPlaneError("CONFLICT", `the run has another artifact with the idempotencyKey ${key}`)

/** Records of people come from the launch service alone. */
export const artifactOfLauncher = (kind: string) =>
  controlPlaneError(
    "FORBIDDEN",
    `an artifact of the kind ${kind} is taken from the launch service alone, whose key LAUNCHER_KEY_NAME names`
  )

/** The log lacks the message that an artifact is about: it may still come. */
export const messageNotRecorded = (id: string, messageId: string) =>
  controlPlaneError("CONFLICT", `run ${id} has no accepted message ${messageId} on record yet`)

export const messageNotFound = (id: string, messageId: string) =>
  controlPlaneError("NOT_FOUND", `run ${id} has no accepted message ${messageId} on record`)

/** What the archive does not have of a run. */
export const notArchived = (id: string, what: string) =>
  controlPlaneError("NOT_FOUND", `run ${id} has left the database, and the archive does not have its ${what}`)

export const invalidTransition = (id: string, from: RunStatus, to: RunStatus) =>
  controlPlaneError("INVALID_STATE_TRANSITION", `cannot transition run ${id} from '${from}' to '${to}'`)

export const sessionAlreadyExists = (sessionId: string) =>
  controlPlaneError("SESSION_ALREADY_EXISTS", `session ${sessionId} is already used by another run`)

export const INVALID_SESSION_ID_TEXT = "session.sessionId must be a UUID v4/v7 or base64url 22+ chars"

export const invalidSessionId = () => controlPlaneError("INVALID_SESSION_ID", INVALID_SESSION_ID_TEXT)

/** A run of OpenTelemetry has no session on the runtime to control. */
export const observedOnly = (id: string, action: string) =>
  controlPlaneError("CONFLICT", `cannot ${action} run ${id}: it comes from OpenTelemetry and has no session to control`)

export const ingestDisabled = () =>
  controlPlaneError("NOT_FOUND", "this service receives no OpenTelemetry: OTLP_INGEST_ENABLED is not true")

export const spanInboxFull = () =>
  controlPlaneError("SERVICE_UNAVAILABLE", "too many received spans wait for their runs; send them again later")

export const notRunning = (status: RunStatus) =>
  controlPlaneError("VALIDATION_ERROR", `only running runs can be suspended (current status: ${status})`)

export const notSuspended = (status: RunStatus) =>
  controlPlaneError("VALIDATION_ERROR", `only suspended runs can be resumed (current status: ${status})`)

export const cancelNotPossible = () =>
  controlPlaneError(
    "VALIDATION_ERROR",
    "run has no cancelCallback in metadata and no policy delegation - cannot cancel from control-plane"
  )

export const cancelCallbackAnswered = (url: string, status: number) =>
  new BadGateway({ errorCode: "INTERNAL_ERROR", message: `cancel callback ${url} returned ${status}` })

export const cancelCallbackFailed = (url: string, why: string) =>
  new BadGateway({ errorCode: "INTERNAL_ERROR", message: `cancel callback ${url} failed: ${why}` })

export const unknownRuntimeKind = (kind: string) =>
  new BadRequest({
    errorCode: "VALIDATION_ERROR",
    message: `unknown runtime kind: ${kind}`,
    error: reasonPhrases[400]
  })

/** A message removed with the emission endpoints (docs/reference/http.md#removed-endpoints). */
export const endpointRemoved = (route: string) =>
  controlPlaneError(
    "ENDPOINT_REMOVED",
    `${route} has been removed: the control plane does not write into sessions; agents send to the runtime directly with the agent SDK`
  )

export const routeNotFound = (method: string, path: string) =>
  new NotFound({ errorCode: "NOT_FOUND", message: `Cannot ${method} ${path}`, error: reasonPhrases[404] })

/** A known path that does not have the method; the header Allow lists those that it has. */
export const methodNotAllowed = (method: string, path: string) =>
  new MethodNotAllowed({
    errorCode: "METHOD_NOT_ALLOWED",
    message: `Cannot ${method} ${path}`,
    error: reasonPhrases[405]
  })

export const badRequest = (message: string) =>
  new BadRequest({ errorCode: "VALIDATION_ERROR", message, error: reasonPhrases[400] })

export const unknownCursor = () => badRequest("cursor is not one of this list in this order")

/** A search that the database was not given enough time for; the fast fields are those that an index finds. */
export const searchTooSlow = (fastFields: ReadonlyArray<string>) =>
  badRequest(`q takes too long: add a condition on a field that an index finds, such as ${fastFields.join(", ")}`)

export const runNotSealed = (id: string, status: RunStatus) =>
  controlPlaneError("CONFLICT", `run ${id} is ${status}: a run is sealed when it ends`)

export const runCannotBeSealed = (id: string) =>
  controlPlaneError("CONFLICT", `run ${id} cannot be sealed: its log lacks events that were stored`)

export const viewNotFound = (id: string) => controlPlaneError("NOT_FOUND", `view ${id} not found`)

export const viewNameTaken = (name: string) => controlPlaneError("CONFLICT", `there is a view with the name ${name}`)

export const viewReadOnly = (name: string) =>
  controlPlaneError("FORBIDDEN", `the view ${name} comes with the product and is read-only`)

export const viewOfAnother = (name: string) =>
  controlPlaneError("FORBIDDEN", `only its owner and administrators may change the view ${name}`)

export const markNotFound = (id: string) => controlPlaneError("NOT_FOUND", `mark ${id} not found`)

export const markOfAnother = () =>
  controlPlaneError("FORBIDDEN", "only its author and administrators may delete this mark")

export const markKeyReused = (key: string) =>
  controlPlaneError("CONFLICT", `the idempotencyKey ${key} has been used with another body`)

export const tooManyMarks = (id: string, bound: string) =>
  controlPlaneError("CONFLICT", `run ${id} has ${bound} already`)

export const erasureNotFound = (id: string) => controlPlaneError("NOT_FOUND", `erasure ${id} not found`)

/** An erasure that the present state of the run, or its seal, does not allow. */
export const erasureConflict = (why: string) => controlPlaneError("CONFLICT", why)

export const sealedInVersion1 = (id: string) =>
  erasureConflict(`run ${id} is sealed in version 1, in which no text can be erased; delete the whole run instead`)

export const markDefinitionNotFound = (name: string) =>
  controlPlaneError("NOT_FOUND", `marks named ${name} have no definition`)

export const markNameReserved = (name: string) =>
  controlPlaneError("FORBIDDEN", `the definition of ${name} is reserved and cannot be changed`)

/** A budget that has too little left for a run. Amounts are US dollars, `periodEndsAt` is ISO 8601. */
export interface ExhaustedBudget {
  readonly rule: string
  readonly name: string
  readonly key: string
  readonly period: string
  readonly periodEndsAt: string
  readonly limitUsd: number
  readonly spentUsd: number
  readonly reservedUsd: number
  readonly expectedUsd: number
}

export const budgetExhausted = (budget: ExhaustedBudget) => {
  const { expectedUsd, key, limitUsd, name, period, periodEndsAt, reservedUsd, rule, spentUsd } = budget
  const say = usdTexts([spentUsd, reservedUsd, expectedUsd, limitUsd], 2)
  return controlPlaneError(
    "BUDGET_EXHAUSTED",
    `budget ${rule} (${name}) of ${key} admits no more runs: ${say(spentUsd)} spent, ${say(reservedUsd)} reserved, ` +
      `${say(expectedUsd)} expected would reach the limit of ${say(limitUsd)}; ` +
      `the period ${period} ends at ${periodEndsAt}`,
    {
      ...{ rule, key, period, spentUsd, reservedUsd, expectedUsd, limitUsd },
      endsAt: periodEndsAt
    }
  )
}

export const alertRuleNotFound = (id: string) => controlPlaneError("NOT_FOUND", `alert rule ${id} not found`)

export const alertRuleExists = (id: string) => controlPlaneError("CONFLICT", `there is an alert rule with the id ${id}`)

export const alertNotFound = (id: string) => controlPlaneError("NOT_FOUND", `alert ${id} not found`)

export const tooManyOf = (most: number, what: string) =>
  controlPlaneError("CONFLICT", `there are ${most} ${what} already`)

/** Too few runs to confirm a cheaper committee. */
export const tooFewRuns = (half: { readonly cases: number; readonly needed: number; readonly missing: number }) =>
  controlPlaneError(
    "CONFLICT",
    `the confirming half of the runs has ${half.cases} cases with a decision and needs ${half.needed}: ` +
      `${half.missing} more, for which about ${2 * half.missing} runs of new cases are needed`,
    { ...half }
  )

export const payloadTooLarge = (message = "request entity too large") =>
  new PayloadTooLarge({
    errorCode: "PAYLOAD_TOO_LARGE",
    message,
    error: reasonPhrases[413]
  })

export const unsupportedMediaType = (contentType: string) =>
  new UnsupportedMediaType({
    errorCode: "UNSUPPORTED_MEDIA_TYPE",
    message:
      contentType === ""
        ? "a body needs the content type application/json"
        : `unsupported content type: ${contentType}`,
    error: reasonPhrases[415]
  })

export const unsupportedCoding = (coding: string, accepted: ReadonlyArray<string>) =>
  new UnsupportedMediaType({
    errorCode: "UNSUPPORTED_MEDIA_TYPE",
    message: `unsupported content coding: ${coding}; accepted are ${accepted.join(", ")} and none`,
    error: reasonPhrases[415]
  })

export const unauthenticated = (message: string) =>
  new Unauthenticated({ errorCode: "UNAUTHENTICATED", message, error: reasonPhrases[401] })

/** The text for a caller whose role is not enough. */
export const roleText = (needed: ReadonlyArray<Role>, role: Role, holder: "key" | "token" = "key") =>
  `this needs the role ${needed.join(" or ")}; the ${holder} has the role ${role}`

export const roleForbidden = (needed: Role, role: Role) => controlPlaneError("FORBIDDEN", roleText([needed], role))

/** The text for a token that cannot be checked now. */
export const ISSUER_AWAY_TEXT = "the issuer of tokens does not answer"

export const RATE_LIMIT_TEXT = "ThrottlerException: Too Many Requests"

export const rateLimitExceeded = () => new TooManyRequests({ errorCode: "INTERNAL_ERROR", message: RATE_LIMIT_TEXT })

export const INTERNAL_TEXT = "Internal server error"

export const internalFailure = () => new InternalFailure({ errorCode: "INTERNAL_ERROR", message: INTERNAL_TEXT })

type RuntimeErrorCode =
  | "VALIDATION_ERROR"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "CONFLICT"
  | "RATE_LIMITED"
  | "NOT_IMPLEMENTED"
  | "RUNTIME_UNAVAILABLE"
  | "RUNTIME_TIMEOUT"
  | "INTERNAL_ERROR"

const errorCodeOfGrpcStatus: Readonly<Partial<Record<GrpcStatusName, RuntimeErrorCode>>> = {
  INVALID_ARGUMENT: "VALIDATION_ERROR",
  OUT_OF_RANGE: "VALIDATION_ERROR",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  PERMISSION_DENIED: "FORBIDDEN",
  NOT_FOUND: "NOT_FOUND",
  FAILED_PRECONDITION: "CONFLICT",
  ABORTED: "CONFLICT",
  ALREADY_EXISTS: "CONFLICT",
  RESOURCE_EXHAUSTED: "RATE_LIMITED",
  UNIMPLEMENTED: "NOT_IMPLEMENTED",
  UNAVAILABLE: "RUNTIME_UNAVAILABLE",
  DEADLINE_EXCEEDED: "RUNTIME_TIMEOUT"
}

/**
 * The answer for a failed runtime call: its gRPC status decides, its details text is the message
 * (docs/reference/errors.md#runtime-errors).
 */
export const runtimeFailure = (status: GrpcStatusName, details: string): ErrorOfCode<RuntimeErrorCode> =>
  controlPlaneError(errorCodeOfGrpcStatus[status] ?? "INTERNAL_ERROR", details === "" ? INTERNAL_TEXT : details, {
    grpcCode: GRPC_CODES[status]
  })

export const circuitBreakerOpen = (details: string, metadata?: Schema.JsonObject) =>
  controlPlaneError("CIRCUIT_BREAKER_OPEN", details, metadata)
