import { type DenialReason, GRPC_CODES, type GrpcStatusName, type RawEnvelope } from "@runplane/domain"
import * as Data from "effect/Data"

/** Why a call failed: the gRPC status, or our own circuit breaker refused to make the call. */
export type RuntimeErrorReason = GrpcStatusName | "CIRCUIT_BREAKER_OPEN"

// What a later identical call may not meet again. ABORTED is what a killed peer leaves on open streams;
// RESOURCE_EXHAUSTED ends a subscription that lagged behind.
const RETRYABLE: ReadonlySet<RuntimeErrorReason> = new Set([
  "CANCELLED",
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "RESOURCE_EXHAUSTED",
  "ABORTED",
  "INTERNAL",
  "UNAVAILABLE",
  "CIRCUIT_BREAKER_OPEN"
])

/** A message above the limit: its size, and its envelope without the payload, if the first bytes have it. */
export interface OversizedMessage {
  readonly bytes: number
  readonly envelope: RawEnvelope | undefined
}

/**
 * A call to the runtime failed. `message` is the details text of the runtime (what HTTP clients are shown),
 * `denialReasons` comes from the `macp-error-details-bin` metadata of policy denials, and so does `denials`, the
 * reasons with their codes, which runtimes send since 0.9.
 */
export class RuntimeError extends Data.TaggedError("RuntimeError")<{
  readonly reason: RuntimeErrorReason
  readonly message: string
  /** Name of the call, as in the service definition. */
  readonly method: string
  readonly denialReasons?: ReadonlyArray<string>
  readonly denials?: ReadonlyArray<DenialReason>
  /** The message that is larger than RUNTIME_MAX_RECEIVE_MESSAGE_BYTES. */
  readonly oversized?: OversizedMessage
  readonly cause?: unknown
}> {
  /** Number of the gRPC status; undefined when the breaker refused the call. */
  get grpcCode(): number | undefined {
    return this.reason === "CIRCUIT_BREAKER_OPEN" ? undefined : GRPC_CODES[this.reason]
  }

  /** Whether trying again later makes sense without changing the request. */
  get retryable(): boolean {
    return RETRYABLE.has(this.reason) && !this.historyGone
  }

  /** The requested history was compacted: call GetSession instead of subscribing again. */
  get historyGone(): boolean {
    return saysHistoryGone(this.message)
  }
}

/**
 * Whether the text of an inline error or of a status says that history before some ordinal was compacted; covers the
 * wording of the 0.6 runtimes and the code of later ones.
 */
export const saysHistoryGone = (text: string): boolean =>
  text.includes("HISTORY_UNAVAILABLE") || /history before ordinal \d+ was compacted/.test(text)
