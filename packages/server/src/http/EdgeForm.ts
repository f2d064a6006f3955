import {
  badRequest,
  type ControlPlaneErrorCode,
  controlPlaneError,
  INTERNAL_TEXT,
  INVALID_API_KEY_TEXT,
  internalFailure,
  launcherError,
  methodNotAllowed,
  payloadTooLarge,
  rateLimitExceeded,
  reasonPhrases,
  routeNotFound,
  unauthenticated,
  unsupportedMediaType
} from "@runplane/api"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** The answers that no endpoint gives, in the form of one service. */
export interface EdgeForm {
  readonly notFound: (method: string, path: string) => HttpServerResponse.HttpServerResponse
  /** The answer for a method that a known path does not have; undefined where that is answered as an unknown route. */
  readonly methodNotAllowed: ((method: string, path: string) => HttpServerResponse.HttpServerResponse) | undefined
  readonly unreadableBody: (text: string) => HttpServerResponse.HttpServerResponse
  readonly payloadTooLarge: HttpServerResponse.HttpServerResponse
  readonly unsupportedMediaType: (contentType: string) => HttpServerResponse.HttpServerResponse
  /** The reason names the fault of a token; a wrong key gets no reason. */
  readonly unauthenticated: (text: string, reason?: string) => HttpServerResponse.HttpServerResponse
  readonly tooManyRequests: HttpServerResponse.HttpServerResponse
  readonly unavailable: (text: string) => HttpServerResponse.HttpServerResponse
  readonly forbidden: (text: string) => HttpServerResponse.HttpServerResponse
  /** Whether an API key in `Authorization` counts; tokens of an issuer count there on both services. */
  readonly bearerKeys: boolean
  readonly internal: HttpServerResponse.HttpServerResponse
  /** The body for what the server refuses before there is a request. */
  readonly refusal: (refusal: { status: number; reason: string; kind: RefusalKind; message: string }) => object
  /** What becomes of a body whose content type is not JSON: refused with 415, or taken for an empty object. */
  readonly otherBodies: "refuse" | "ignore"
}

/** Why a server refuses a request by itself: it is malformed, or too large, or nothing is there yet to answer it. */
export type RefusalKind = "invalid" | "too-large" | "unavailable"

const refusalCodes: Readonly<Record<RefusalKind, ControlPlaneErrorCode>> = {
  invalid: "VALIDATION_ERROR",
  "too-large": "PAYLOAD_TOO_LARGE",
  unavailable: "SERVICE_UNAVAILABLE"
}

interface ErrorBody {
  readonly statusCode: number
  readonly errorCode: string
  readonly message: string
  readonly error?: string
}

const own = ({ statusCode, errorCode, message, error }: ErrorBody) =>
  HttpServerResponse.jsonUnsafe(
    { statusCode, errorCode, message, ...(error === undefined ? {} : { error }) },
    { status: statusCode }
  )

const because = (text: string, reason: string | undefined) => (reason === undefined ? text : `${text}: ${reason}`)

const framework = (statusCode: keyof typeof reasonPhrases, message: string) =>
  HttpServerResponse.jsonUnsafe({ message, error: reasonPhrases[statusCode], statusCode }, { status: statusCode })

/** The control plane: every error has an `errorCode` (docs/reference/errors.md#error-bodies). */
export const controlPlaneForm: EdgeForm = {
  notFound: (method, path) => own(routeNotFound(method, path)),
  methodNotAllowed: (method, path) => own(methodNotAllowed(method, path)),
  unreadableBody: (text) => own(badRequest(text)),
  payloadTooLarge: own(payloadTooLarge()),
  unsupportedMediaType: (contentType) => own(unsupportedMediaType(contentType)),
  unauthenticated: (text, reason) => own(unauthenticated(because(text, reason))),
  tooManyRequests: own(rateLimitExceeded()),
  unavailable: (text) => own(controlPlaneError("SERVICE_UNAVAILABLE", text)),
  forbidden: (text) => own(controlPlaneError("FORBIDDEN", text)),
  bearerKeys: true,
  internal: own(internalFailure()),
  refusal: ({ kind, message, reason, status }) => ({
    statusCode: status,
    errorCode: refusalCodes[kind],
    message,
    error: reason
  }),
  otherBodies: "refuse"
}

/** The launch service: errors of the edge have the bodies of the framework it replaces, without a code. */
export const launcherForm: EdgeForm = {
  notFound: (method, path) => framework(404, `Cannot ${method} ${path}`),
  methodNotAllowed: undefined,
  unreadableBody: (text) => framework(400, text),
  payloadTooLarge: framework(413, payloadTooLarge().message),
  unsupportedMediaType: (contentType) => framework(415, unsupportedMediaType(contentType).message),
  unauthenticated: (_text, reason) => framework(401, because(INVALID_API_KEY_TEXT, reason)),
  tooManyRequests: own(rateLimitExceeded()),
  unavailable: (text) => framework(503, text),
  forbidden: (text) => own(launcherError("FORBIDDEN", text)),
  bearerKeys: false,
  internal: own(launcherError("INTERNAL_ERROR", INTERNAL_TEXT)),
  refusal: ({ message, reason, status }) => ({ message, error: reason, statusCode: status }),
  otherBodies: "ignore"
}
