import { generateKeyPairSync, sign } from "node:crypto"
import {
  issueReceipt,
  type JsonObject,
  type ReceiptFacts,
  type ReceiptSigner,
  type WireCommitment
} from "@runplane/domain"
import * as Result from "effect/Result"
import { sha256 } from "./digests.ts"

const varint = (value: number): ReadonlyArray<number> =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]

const delimited = (number: number, bytes: Uint8Array | ReadonlyArray<number>): ReadonlyArray<number> => [
  (number << 3) | 2,
  ...varint(bytes.length),
  ...bytes
]

const text = (number: number, value: string) => (value === "" ? [] : delimited(number, Buffer.from(value)))

/** The protobuf bytes of a Commitment. */
export const wireOf = (commitment: WireCommitment): Uint8Array => {
  const { supersedes } = commitment
  return Uint8Array.from([
    ...text(1, commitment.commitmentId),
    ...text(2, commitment.action),
    ...text(3, commitment.authorityScope),
    ...text(4, commitment.reason),
    ...text(5, commitment.modeVersion),
    ...text(6, commitment.policyVersion),
    ...text(7, commitment.configurationVersion),
    ...(commitment.outcomePositive ? [8 << 3, 1] : []),
    ...(supersedes === undefined
      ? []
      : delimited(9, [...text(1, supersedes.sessionId), ...text(2, supersedes.commitmentHash)]))
  ])
}

export const FAIL_OVER: WireCommitment = {
  commitmentId: "failover-1",
  action: "decision.selected",
  authorityScope: "checkout-api",
  reason: "go: 3 approve, 0 reject of 3 specialists",
  modeVersion: "1.0.0",
  policyVersion: "policy.incident.balanced",
  configurationVersion: "config.default",
  outcomePositive: true
}

/** A signer with a new key, and the key as a receipt's reader knows it. */
export const newSigner = (keyId: string) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const { x = "" } = publicKey.export({ format: "jwk" })
  const signer: ReceiptSigner = { keyId, sign: (message) => sign(null, message, privateKey) }
  return { signer, x, jwk: { kty: "OKP", crv: "Ed25519", kid: keyId, x, alg: "EdDSA", use: "sig" } }
}

export const facts = (commitment: WireCommitment = FAIL_OVER): ReceiptFacts => ({
  sessionId: "session-1",
  mode: "macp.mode.decision.v1",
  wire: wireOf(commitment),
  issuer: "runtime:zurich-1",
  issuedAt: "2026-07-01T10:00:03Z",
  semantics: { implementation: "sandbox", rev: 4 }
})

/** A receipt as JSON, signed when a signer is given. */
export const receiptOf = (signer?: ReceiptSigner, of: ReceiptFacts = facts()): JsonObject =>
  JSON.parse(Result.getOrThrow(issueReceipt(sha256, of, signer)))
