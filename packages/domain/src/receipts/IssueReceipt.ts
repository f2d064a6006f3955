import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { canonicalJson } from "../values/CanonicalJson.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { commitmentHash, commitmentJson, readCommitment } from "./Commitment.ts"
import { RECEIPT_FORMAT } from "./Receipt.ts"

/** What a runtime puts into a receipt. */
export interface ReceiptFacts {
  readonly sessionId: string
  readonly mode: string
  /** The payload of the accepted Commitment, as its sender encoded it. */
  readonly wire: Uint8Array
  readonly issuer: string
  /** RFC 3339, UTC, whole seconds. */
  readonly issuedAt: string
  /** The implementation whose rules resolved the session, and their revision. */
  readonly semantics: { readonly implementation: string; readonly rev: number }
}

/** An Ed25519 key that signs receipts. */
export interface ReceiptSigner {
  readonly keyId: string
  readonly sign: (message: Uint8Array) => Uint8Array
}

const utf8 = new TextEncoder()

/**
 * The text of a receipt, for runtimes in memory (docs/internals/runtime.md#receipts). The same facts and key give the
 * same text. Fails with the reason for a payload whose hash cannot be made.
 */
export const issueReceipt = (
  sha256: Sha256,
  { issuedAt, issuer, mode, semantics, sessionId, wire }: ReceiptFacts,
  signer?: ReceiptSigner
): Result.Result<string, string> =>
  Result.map(readCommitment(wire), (commitment) => {
    const body: JsonObject = {
      receipt_format: RECEIPT_FORMAT,
      session_id: sessionId,
      mode,
      commitment: commitmentJson(commitment),
      commitment_hash: commitmentHash(sha256, commitment),
      commitment_wire_b64: Base64.encode(wire),
      semantics_rev: { ...semantics },
      issuer,
      issued_at: issuedAt
    }
    const attestations = signer === undefined ? [] : [{ type: "jws", jws: detachedJws(body, signer) }]
    return canonicalJson({ ...body, attestations })
  })

const detachedJws = (body: JsonObject, { keyId, sign }: ReceiptSigner): string => {
  const header = Base64Url.encode(`{"alg":"EdDSA","kid":${JSON.stringify(keyId)}}`)
  const signature = sign(utf8.encode(`${header}.${Base64Url.encode(canonicalJson(body))}`))
  return `${header}..${Base64Url.encode(signature)}`
}
