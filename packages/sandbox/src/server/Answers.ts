import { create } from "@bufbuild/protobuf"
import { Code, ConnectError, encodeBinaryHeader } from "@connectrpc/connect"
import { type Ack, AckSchema, type Envelope, type MACPError, MACPErrorSchema, SessionState } from "@runplane/runtime"
import * as Result from "effect/Result"
import type { CredentialRefused } from "../auth/CredentialRefused.ts"
import type { RegistryCode, Rejection } from "../core/Rejection.ts"
import type { Acceptance } from "../kernel/Kernel.ts"
import type { KernelFailure } from "../kernel/KernelFailure.ts"
import { ReceiverLagged } from "../kernel/Mailbox.ts"

/**
 * The answer to a Send: rejections travel inside it, with the state left unspecified
 * (docs/internals/runtime.md#rejections).
 */
export const ackOf = (
  result: Result.Result<Acceptance, Rejection>,
  echo: Pick<Envelope, "messageId" | "sessionId">,
  now: number
): Ack =>
  Result.match(result, {
    onSuccess: ({ acceptedAt, duplicate, state }) =>
      create(AckSchema, {
        ok: true,
        duplicate,
        messageId: echo.messageId,
        sessionId: echo.sessionId,
        acceptedAtUnixMs: BigInt(acceptedAt),
        sessionState: state
      }),
    onFailure: (rejection) =>
      create(AckSchema, {
        ok: false,
        messageId: echo.messageId,
        sessionId: echo.sessionId,
        acceptedAtUnixMs: BigInt(now),
        sessionState: SessionState.UNSPECIFIED,
        error: {
          code: rejection.code,
          message: rejection.variant,
          sessionId: echo.sessionId,
          messageId: echo.messageId,
          details: denialDetails(rejection)
        }
      })
  })

/** UTF-8 JSON `{"reasons":[...]}`, only on policy denials (docs/internals/runtime.md#denial-details). */
const denialDetails = ({ reasons }: Pick<Rejection, "reasons">): Uint8Array<ArrayBuffer> =>
  reasons.length === 0 ? new Uint8Array() : new TextEncoder().encode(JSON.stringify({ reasons }))

/**
 * Trailing metadata that holds the details of a denial which escapes as a status
 * (docs/internals/runtime.md#denial-details).
 */
const DETAILS_TRAILER = "macp-error-details-bin"

const denialStatus = (text: string, reasons: ReadonlyArray<string>): ConnectError =>
  new ConnectError(text, Code.FailedPrecondition, {
    [DETAILS_TRAILER]: encodeBinaryHeader(denialDetails({ reasons }))
  })

/** The status of a Send whose acknowledgement holds a policy denial; undefined for any other acknowledgement. */
export const denialOfAck = ({ error }: Ack): ConnectError | undefined => {
  if (error?.code !== "POLICY_DENIED") return undefined
  return new ConnectError(error.message, Code.FailedPrecondition, {
    [DETAILS_TRAILER]: encodeBinaryHeader(error.details)
  })
}

/** Where a compacted history begins, in the words that clients match (docs/internals/runtime.md#compaction). */
export const compacted = (base: number): string =>
  `session history before ordinal ${base} was compacted; resubscribe at or after it`

/** How releases from 0.12 on end a subscription below the compacted base (docs/internals/runtime.md#releases). */
export const historyUnavailable = (base: number): ConnectError =>
  new ConnectError(compacted(base), Code.FailedPrecondition, {
    "macp-error-code": "HISTORY_UNAVAILABLE",
    [DETAILS_TRAILER]: encodeBinaryHeader(new TextEncoder().encode(JSON.stringify({ lowest_available_sequence: base })))
  })

/** What a kernel failure or a refused credential is as a gRPC status. */
export const statusOf = (failure: KernelFailure | CredentialRefused): ConnectError => {
  switch (failure._tag) {
    case "SessionNotFound":
      return new ConnectError(failure.message, Code.NotFound)
    case "CallForbidden":
      return new ConnectError(failure.message, Code.PermissionDenied)
    case "ArgumentInvalid":
      return new ConnectError(failure.message, Code.InvalidArgument)
    case "CredentialRefused":
      return new ConnectError(failure.message, Code.Unauthenticated)
  }
}

/** The end of a watch whose receiver was too slow. */
export const watchFailure = (cause: unknown): unknown =>
  cause instanceof ReceiverLagged ? new ConnectError(cause.message, Code.ResourceExhausted) : cause

/**
 * Rejections that end a StreamSession, with their status; all others travel inline
 * (docs/internals/runtime.md#stream-errors).
 */
const ENDING: Partial<Readonly<Record<RegistryCode, Code>>> = {
  UNAUTHENTICATED: Code.Unauthenticated,
  PAYLOAD_TOO_LARGE: Code.ResourceExhausted,
  RATE_LIMITED: Code.ResourceExhausted,
  INTERNAL_ERROR: Code.Internal,
  INVALID_SESSION_ID: Code.InvalidArgument,
  INVALID_POLICY_DEFINITION: Code.InvalidArgument,
  SESSION_ALREADY_EXISTS: Code.AlreadyExists
}

/** The status a rejection ends the stream with, or undefined when it is an inline frame. */
export const streamEnd = (rejection: Rejection, denialsAsStatus: boolean): ConnectError | undefined => {
  if (denialsAsStatus && rejection.code === "POLICY_DENIED")
    return denialStatus(inlineText(rejection), rejection.reasons)
  const code = ENDING[rejection.code]
  return code === undefined ? undefined : new ConnectError(rejection.variant, code)
}

/**
 * An inline frame: code and message both hold the status text, not a registry code
 * (docs/internals/runtime.md#inline-errors).
 */
export const inlineError = (text: string, sessionId: string): MACPError =>
  create(MACPErrorSchema, { code: text, message: text, sessionId })

export const inlineText = ({ reasons, variant }: Rejection): string =>
  reasons.length === 0 ? variant : `${variant}: ${reasons.join("; ")}`
