import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import { canonicalJson } from "../values/CanonicalJson.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { eventBytes } from "./Chain.ts"
import type { SignatureCheck, Signer } from "./Seal.ts"

/** What a key says of itself when a process first starts with it (docs/reference/seal.md#keys). */
export interface KeyStatement {
  /** Thumbprint of the key (RFC 7638). */
  readonly keyId: string
  /** Its 32 bytes, base64url. */
  readonly publicKey: string
  /** The key that it replaced; null for the first one. */
  readonly previous: string | null
  /** ISO-8601. */
  readonly since: string
}

/** A statement with its signatures, hexadecimal: by the key, and by the one that it replaced. */
export interface SignedKeyStatement extends KeyStatement {
  readonly signature: string
  readonly previousSignature: string | null
}

/** The bytes that both keys sign. */
export const keyStatementBytes = ({ keyId, previous, publicKey, since }: KeyStatement): Uint8Array =>
  eventBytes(canonicalJson({ kind: "runplane-key-v1", keyId, previous, publicKey, since }))

/** The id of an Ed25519 key: its JWK thumbprint (RFC 7638). `publicKey` is base64url. */
export const keyThumbprint = (sha256: Sha256, publicKey: string): string =>
  Base64Url.encode(sha256(eventBytes(JSON.stringify({ crv: "Ed25519", kty: "OKP", x: publicKey }))))

/** Signs the statement of a key, also by the key that it replaces. */
export const makeKeyStatement = (
  key: Signer & { readonly publicKey: string },
  since: string,
  previous?: Signer
): SignedKeyStatement => {
  const { keyId, publicKey } = key
  const statement = { keyId, publicKey, previous: previous?.keyId ?? null, since }
  const bytes = keyStatementBytes(statement)
  return {
    ...statement,
    signature: Hex.encode(key.sign(bytes)),
    previousSignature: previous === undefined ? null : Hex.encode(previous.sign(bytes))
  }
}

/**
 * The keys that a key proves, the newest first: itself, when its statement has its signature, and each earlier one that
 * both keys name as its predecessor. A key whose id is not its thumbprint, or that is younger than its successor, ends
 * the chain. `check` must know the key of each statement by `keyId`.
 */
export const keyChain = (
  sha256: Sha256,
  statements: ReadonlyArray<SignedKeyStatement>,
  check: SignatureCheck,
  newest: string
): ReadonlyArray<SignedKeyStatement> => {
  const signedBy = (keyId: string, statement: SignedKeyStatement, signature: string | null) => {
    const bytes = signature === null ? undefined : Hex.decode(signature)
    return (
      bytes !== undefined &&
      Result.isSuccess(bytes) &&
      check(keyId, keyStatementBytes(statement), bytes.success) === true
    )
  }
  const byKey = new Map<string, Array<SignedKeyStatement>>()
  for (const statement of statements) {
    const { keyId, publicKey, signature } = statement
    if (keyId !== keyThumbprint(sha256, publicKey) || !signedBy(keyId, statement, signature)) continue
    byKey.set(keyId, [...(byKey.get(keyId) ?? []), statement])
  }
  // A key may have been the first one, and have named its predecessor in a later start: that statement proves more.
  const statementOf = (keyId: string) => {
    const made = byKey.get(keyId) ?? []
    const continued = made.find(
      (one) => one.previous !== null && byKey.has(one.previous) && signedBy(one.previous, one, one.previousSignature)
    )
    return continued === undefined
      ? { statement: made[0], previous: null }
      : { statement: continued, previous: continued.previous }
  }
  const chain: Array<SignedKeyStatement> = []
  const seen = new Set<string>()
  for (let next: string | null = newest; next !== null && !seen.has(next); ) {
    seen.add(next)
    const { previous, statement } = statementOf(next)
    const successor = chain.at(-1)
    if (
      statement === undefined ||
      (successor !== undefined && Date.parse(statement.since) > Date.parse(successor.since))
    )
      break
    chain.push(statement)
    next = previous
  }
  return chain
}
