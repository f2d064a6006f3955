import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** What a signed token may be signed with. HS256 has to be asked for (runtime-wire section 6.3). */
export const TokenAlgorithm = Schema.Literals(["RS256", "ES256", "HS256"])
export type TokenAlgorithm = typeof TokenAlgorithm.Type

const common = { kid: Schema.optional(Schema.String), alg: Schema.optional(Schema.String) }

const RsaKey = Schema.Struct({ kty: Schema.Literal("RSA"), n: Schema.String, e: Schema.String, ...common })
const EcKey = Schema.Struct({
  kty: Schema.Literal("EC"),
  crv: Schema.Literal("P-256"),
  x: Schema.String,
  y: Schema.String,
  ...common
})
const SecretKey = Schema.Struct({ kty: Schema.Literal("oct"), k: Schema.String, ...common })

const WebKey = Schema.Union([RsaKey, EcKey, SecretKey])
type WebKey = typeof WebKey.Type

/** A key set as it is published. Keys of other kinds may be in it; they are passed over. */
export const JsonWebKeySet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })
export type JsonWebKeySet = typeof JsonWebKeySet.Type

/** One key that can check signatures of one algorithm. */
export interface SigningKey {
  readonly id: string | undefined
  readonly algorithm: TokenAlgorithm
  readonly matches: (signed: Uint8Array, signature: Uint8Array) => boolean
}

/** The usable keys of a set, in its order. */
export const signingKeys = ({ keys }: JsonWebKeySet): ReadonlyArray<SigningKey> =>
  keys.flatMap((candidate) => {
    const key = Result.flatMap(decodeKey(candidate), (webKey) => Result.try(() => signingKey(webKey)))
    return Result.isSuccess(key) ? [key.success] : []
  })

const decodeKey = Schema.decodeUnknownResult(WebKey)

const signingKey = (webKey: WebKey): SigningKey => {
  switch (webKey.kty) {
    case "oct":
      return { id: webKey.kid, algorithm: "HS256", matches: secretMatcher(Buffer.from(webKey.k, "base64url")) }
    case "RSA":
      return { id: webKey.kid, algorithm: "RS256", matches: publicMatcher(webKey) }
    case "EC":
      return { id: webKey.kid, algorithm: "ES256", matches: publicMatcher(webKey) }
  }
}

const publicMatcher = ({ alg: _, kid: __, ...material }: typeof RsaKey.Type | typeof EcKey.Type) => {
  const key = createPublicKey({ key: { ...material }, format: "jwk" })
  return (signed: Uint8Array, signature: Uint8Array): boolean =>
    // A signature of the wrong length makes the library throw: one more way of not being signed.
    Result.getOrElse(
      Result.try(() => verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature)),
      () => false
    )
}

const secretMatcher = (secret: Uint8Array) => {
  return (signed: Uint8Array, signature: Uint8Array): boolean => {
    const expected = createHmac("sha256", secret).update(signed).digest()
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  }
}
