import * as Hex from "effect/encoding/Hex"
import { canonicalJson } from "../values/CanonicalJson.ts"
import type { Sha256 } from "../values/Sha256.ts"

/** The message that a person answers, as the runtime accepted it. */
export interface HashedSubject {
  readonly messageId: string
  readonly sender: string
  /** Proposal, ApprovalRequest or HandoffOffer. */
  readonly type: string
  /** SHA-256 of the payload's bytes, hexadecimal. */
  readonly payloadSha256: string
  /** 32 random bytes, hexadecimal: without them a short text could be guessed from the hash. */
  readonly nonce: string
}

/** Everything that an answer is bound to. */
export interface Hashed {
  readonly sessionId: string
  readonly mode: string
  readonly modeVersion: string
  readonly configurationVersion: string
  readonly policyVersion: string
  /** Null when the policy could not be read. */
  readonly policyHash: string | null
  readonly participants: ReadonlyArray<string>
  readonly subject: HashedSubject
}

const utf8 = new TextEncoder()

/** SHA-256 of bytes, hexadecimal. */
export const sha256Hex = (sha256: Sha256, bytes: Uint8Array): string => Hex.encode(sha256(bytes))

/** The hash of a policy as the registry of the runtime gives it; `rules` is its text, unchanged. */
export const policyHash = (
  sha256: Sha256,
  policy: { readonly policyId: string; readonly mode: string; readonly schemaVersion: number; readonly rules: string }
): string => {
  const { mode, policyId, rules, schemaVersion } = policy
  return sha256Hex(sha256, utf8.encode(canonicalJson({ policyId, mode, schemaVersion, rules })))
}

/**
 * What an answer is bound to, as SHA-256 over its canonical JSON, hexadecimal. The launch service, the page in the
 * browser and the verification of an export compute it with this function.
 */
export const proposalHash = (sha256: Sha256, hashed: Hashed): string => {
  const { configurationVersion, mode, modeVersion, participants, policyVersion, sessionId, subject } = hashed
  const { messageId, nonce, payloadSha256, sender, type } = subject
  const value = {
    v: 1,
    sessionId,
    mode,
    modeVersion,
    configurationVersion,
    policyVersion,
    policyHash: hashed.policyHash,
    participants: [...participants],
    subject: { messageId, sender, type, payloadSha256, nonce }
  }
  return sha256Hex(sha256, utf8.encode(canonicalJson(value)))
}
