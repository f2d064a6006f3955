import { constants, type IncomingHttpHeaders } from "node:http2"
import { ConnectError, decodeBinaryHeader } from "@connectrpc/connect"
import {
  type DenialDetails,
  GRPC_CODES,
  type GrpcStatusName,
  grpcStatusName,
  type RawEnvelope,
  readDenialDetails
} from "@runplane/domain"
import { UnreadableFrame } from "./GrpcFrames.ts"
import { RuntimeError } from "./RuntimeError.ts"

/** Metadata with the reasons of a policy denial. */
const DENIAL_DETAILS = "macp-error-details-bin"

const NO_STATUS = "the runtime has ended the stream without a status"

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?$/i

/** The failure of a call: connect's own error, or the error that the conversion of the answer threw. */
export const toRuntimeError =
  (method: string) =>
  (cause: unknown): RuntimeError => {
    if (cause instanceof RuntimeError) return cause
    const error = ConnectError.from(cause)
    return failure(method, grpcStatusName(error.code), error.rawMessage, error.metadata.get(DENIAL_DETAILS), error)
  }

/** Why no messages follow these headers; undefined when they do, or when they say that the call has succeeded. */
export const failureOfHeaders = (method: string, headers: IncomingHttpHeaders): RuntimeError | undefined => {
  const status = Number(headers[":status"])
  if (status !== constants.HTTP_STATUS_OK) return failure(method, nameOfHttpStatus(status), `HTTP ${status}`)
  const type = headers["content-type"]
  if (type === undefined || !CONTENT_TYPE.test(type)) {
    return failure(method, "UNKNOWN", `unsupported content type ${type ?? ""}`)
  }
  const encoding = field(headers, "grpc-encoding")
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return failure(method, "INTERNAL", `unsupported response encoding "${encoding}"`)
  }
  return failureOfStatus(method, headers)
}

/**
 * Why the call has failed, as its trailers say; undefined when it has succeeded. Reasons of a denial may be among the
 * headers instead.
 */
export const failureOfTrailers = (
  method: string,
  trailers: IncomingHttpHeaders,
  denialDetails: string | undefined
): RuntimeError | undefined =>
  trailers["grpc-status"] === undefined
    ? failure(method, "INTERNAL", NO_STATUS)
    : failureOfStatus(method, trailers, denialDetails)

/** Whether the headers also end the call. */
export const haveStatus = (headers: IncomingHttpHeaders): boolean => headers["grpc-status"] !== undefined

export const denialDetailsOf = (headers: IncomingHttpHeaders): string | undefined => field(headers, DENIAL_DETAILS)

/** The failure of a stream that broke before its trailers, or has unreadable content. */
export const failureOfBreak = (
  method: string,
  cause: unknown,
  resetCode: number | undefined,
  readHead?: (head: Uint8Array) => RawEnvelope | undefined
): RuntimeError => {
  if (cause instanceof RuntimeError || cause instanceof ConnectError) return toRuntimeError(method)(cause)
  if (cause instanceof UnreadableFrame) {
    const { message, oversized, reason } = cause
    return new RuntimeError({
      method,
      reason,
      message,
      cause,
      ...(oversized && { oversized: { bytes: oversized.bytes, envelope: readHead?.(oversized.head) } })
    })
  }
  const text = cause instanceof Error ? cause.message : String(cause)
  return failure(method, nameOfBreak(cause, resetCode), text, undefined, cause)
}

/** The failure of a stream that was closed without trailers and without an error. */
export const failureOfReset = (method: string, resetCode: number | undefined): RuntimeError =>
  resetCode === constants.NGHTTP2_CANCEL
    ? failure(method, "CANCELLED", "the stream was cancelled by the runtime")
    : failure(method, "INTERNAL", NO_STATUS)

const failureOfStatus = (
  method: string,
  fields: IncomingHttpHeaders,
  denialDetails: string | undefined = undefined
): RuntimeError | undefined => {
  const status = field(fields, "grpc-status")
  if (status === undefined || status === "0") return undefined
  const code = /^\d{1,2}$/.test(status) ? Number(status) : undefined
  if (code === undefined || (grpcStatusName(code) === "UNKNOWN" && code !== GRPC_CODES.UNKNOWN)) {
    return failure(method, "INTERNAL", `invalid grpc-status: ${status}`)
  }
  const message = percentDecoded(field(fields, "grpc-message") ?? "")
  return failure(method, grpcStatusName(code), message, denialDetailsOf(fields) ?? denialDetails)
}

const failure = (
  method: string,
  reason: GrpcStatusName,
  message: string,
  denialDetails?: string | null,
  cause?: unknown
): RuntimeError => {
  const denial = denialOf(denialDetails ?? undefined)
  return new RuntimeError({
    method,
    reason,
    message,
    ...(cause === undefined ? {} : { cause }),
    ...(denial !== undefined && { denialReasons: denial.reasons, denials: denial.denials })
  })
}

/** A repeated field is a list, as in HTTP. */
const field = (fields: IncomingHttpHeaders, name: string): string | undefined => {
  const value = fields[name]
  return Array.isArray(value) ? value.join(", ") : value
}

/** A text with a malformed encoding is better than none. */
const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const nameOfHttpStatus = (status: number): GrpcStatusName => HTTP_STATUSES.get(status) ?? "UNKNOWN"

const HTTP_STATUSES: ReadonlyMap<number, GrpcStatusName> = new Map([
  [400, "INTERNAL"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "UNIMPLEMENTED"],
  [429, "UNAVAILABLE"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "UNAVAILABLE"]
])

/** The peer has closed an established connection. */
const HUNG_UP: ReadonlySet<unknown> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ERR_STREAM_DESTROYED",
  "ERR_HTTP2_INVALID_STREAM"
])
const UNREACHABLE: ReadonlySet<unknown> = new Set(["ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED"])

const nameOfBreak = (cause: unknown, resetCode: number | undefined): GrpcStatusName => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (HUNG_UP.has(code)) return "ABORTED"
  if (UNREACHABLE.has(code)) return "UNAVAILABLE"
  // The peer has not processed the stream.
  return code === "ERR_HTTP2_STREAM_ERROR" && resetCode === constants.NGHTTP2_REFUSED_STREAM
    ? "UNAVAILABLE"
    : "INTERNAL"
}

/** Details of a policy denial; undefined when there are none or they cannot be read. */
const denialOf = (details: string | undefined): DenialDetails | undefined => {
  if (details === undefined) return undefined
  try {
    const read = readDenialDetails(decodeBinaryHeader(details))
    return read.reasons.length === 0 ? undefined : read
  } catch {
    // Not base64: the status itself says enough.
    return undefined
  }
}
