import type { DenialReason } from "@runplane/domain"

/**
 * Why a message is refused: the registry code that travels in `Ack.error.code`
 * (docs/internals/runtime.md#registry-codes) and the variant name that travels as its text.
 */
export type RegistryCode =
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "SESSION_NOT_FOUND"
  | "SESSION_NOT_OPEN"
  | "SESSION_ALREADY_EXISTS"
  | "INVALID_ENVELOPE"
  | "UNSUPPORTED_PROTOCOL_VERSION"
  | "MODE_NOT_SUPPORTED"
  | "PAYLOAD_TOO_LARGE"
  | "RATE_LIMITED"
  | "INVALID_SESSION_ID"
  | "INTERNAL_ERROR"
  | "UNKNOWN_POLICY_VERSION"
  | "POLICY_DENIED"
  | "INVALID_POLICY_DEFINITION"

export interface Rejection {
  readonly code: RegistryCode
  /** The variant name, for example `InvalidPayload`. */
  readonly variant: string
  /** Only on POLICY_DENIED: every rule that refused. */
  readonly denials: ReadonlyArray<DenialReason>
}

const rejection = (code: RegistryCode, variant: string): Rejection => ({ code, variant, denials: [] })

export const Unauthenticated = rejection("UNAUTHENTICATED", "Unauthenticated")
export const Forbidden = rejection("FORBIDDEN", "Forbidden")
export const UnknownSession = rejection("SESSION_NOT_FOUND", "UnknownSession")
export const SessionNotOpen = rejection("SESSION_NOT_OPEN", "SessionNotOpen")
export const SessionExpired = rejection("SESSION_NOT_OPEN", "TtlExpired")
export const SessionAlreadyExists = rejection("SESSION_ALREADY_EXISTS", "DuplicateSession")
export const InvalidEnvelope = rejection("INVALID_ENVELOPE", "InvalidEnvelope")
export const InvalidPayload = rejection("INVALID_ENVELOPE", "InvalidPayload")
export const InvalidTtl = rejection("INVALID_ENVELOPE", "InvalidTtl")
export const InvalidModeVersion = rejection("INVALID_ENVELOPE", "InvalidModeVersion")
export const InvalidProtocolVersion = rejection("UNSUPPORTED_PROTOCOL_VERSION", "InvalidProtocolVersion")
export const UnknownMode = rejection("MODE_NOT_SUPPORTED", "UnknownMode")
export const PayloadTooLarge = rejection("PAYLOAD_TOO_LARGE", "PayloadTooLarge")
export const RateLimited = rejection("RATE_LIMITED", "RateLimited")
export const InvalidSessionId = rejection("INVALID_SESSION_ID", "InvalidSessionId")
export const UnknownPolicyVersion = rejection("UNKNOWN_POLICY_VERSION", "UnknownPolicyVersion")
export const InvalidPolicyDefinition = rejection("INVALID_POLICY_DEFINITION", "InvalidPolicyDefinition")

/** A commitment (or a move of another mode) that the bound policy refuses, with every reason it gives. */
export const policyDenied = (denials: ReadonlyArray<DenialReason>): Rejection => ({
  code: "POLICY_DENIED",
  variant: "PolicyDenied",
  denials
})
