import { create } from "@bufbuild/protobuf"
import { Code, ConnectError, encodeBinaryHeader } from "@connectrpc/connect"
import { isReleaseFrom, type Release } from "@runplane/domain"
import { type Ack, AckSchema, type Envelope, type MACPError, MACPErrorSchema, SessionState } from "@runplane/runtime"
import * as Result from "effect/Result"
import type { CredentialRefused } from "../auth/CredentialRefused.ts"
import type { RegistryCode, Rejection } from "../core/Rejection.ts"
import type { Acceptance } from "../kernel/Kernel.ts"
import type { KernelFailure } from "../kernel/KernelFailure.ts"
import { ReceiverLagged } from "../kernel/Mailbox.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"

/**
 * The answer to a Send: rejections travel inside it, with the state left unspecified
 * (docs/internals/runtime.md#rejections).
 */
export const ackOf = (
  result: Result.Result<Acceptance, Rejection>,
  echo: Pick<Envelope, "messageId" | "sessionId">,
  now: number,
  release: Release
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
          details: denialDetails(rejection, release)
        }
      })
  })

/** UTF-8 JSON, only on policy denials; codes since 0.9 (docs/internals/runtime.md#denial-details). */
const denialDetails = ({ denials }: Pick<Rejection, "denials">, release: Release): Uint8Array<ArrayBuffer> => {
  if (denials.length === 0) return new Uint8Array()
  const reasons = denials.map(({ message }) => message)
  const details = isReleaseFrom(release, "0.13.0") ? { reasons, denials } : { reasons }
  return new TextEncoder().encode(JSON.stringify(details))
}

/**
 * Trailing metadata that holds the details of a denial which escapes as a status
 * (docs/internals/runtime.md#denial-details).
 */
const DETAILS_TRAILER = "macp-error-details-bin"

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

type AnswerOptions = Pick<SandboxOptions, "release" | "denialsAsStatus">

/** The status a rejection ends the stream with, or undefined when it is an inline frame. */
export const streamEnd = (rejection: Rejection, options: AnswerOptions): ConnectError | undefined => {
  if (options.denialsAsStatus && rejection.code === "POLICY_DENIED") {
    return new ConnectError(inlineText(rejection), Code.FailedPrecondition, {
      [DETAILS_TRAILER]: encodeBinaryHeader(denialDetails(rejection, options.release))
    })
  }
  const code = ENDING[rejection.code]
  return code === undefined ? undefined : new ConnectError(rejection.variant, code)
}

/**
 * An inline frame: code and message both hold the status text, not a registry code
 * (docs/internals/runtime.md#inline-errors).
 */
export const inlineError = (text: string, sessionId: string): MACPError =>
  create(MACPErrorSchema, { code: text, message: text, sessionId })

const inlineText = ({ denials, variant }: Rejection): string =>
  denials.length === 0 ? variant : `${variant}: ${denials.map(({ message }) => message).join("; ")}`

/** The inline frame of a refused submission; from 0.13.0 it has what an acknowledgement has. */
export const inlineRefusal = (
  rejection: Rejection,
  { messageId, sessionId }: Pick<Envelope, "messageId" | "sessionId">,
  release: Release
): MACPError =>
  isReleaseFrom(release, "0.13.0")
    ? create(MACPErrorSchema, {
        code: rejection.code,
        message: rejection.variant,
        sessionId,
        messageId,
        details: denialDetails(rejection, release)
      })
    : inlineError(inlineText(rejection), sessionId)
