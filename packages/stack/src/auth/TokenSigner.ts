import * as KeyFormat from "effect/crypto/KeyFormat"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Signature from "effect/crypto/Signature"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"

/** The claims of a runtime token (runtime-wire section 6.4); times are Unix seconds. */
export interface TokenClaims {
  readonly iss: string
  readonly aud: string
  readonly sub: string
  readonly iat: number
  readonly exp: number
  readonly macp_scopes: object
}

export interface TokenSigner {
  /** The claims as a compact JWS. */
  readonly sign: (claims: TokenClaims) => Effect.Effect<string>
  /** What anybody may have to check the signatures with: the content of `/.well-known/jwks.json`. */
  readonly keySet: { readonly keys: ReadonlyArray<object> }
}

/** ES256 in the words of JOSE: every runtime takes it without being asked to (runtime-wire section 6.3). */
const ALGORITHM = "ES256"

const KEY_ID_BYTES = 8

/**
 * Signs with a key pair that is made here and never leaves the process: tokens of an earlier start are void, and there
 * is no secret to keep. That the platform cannot make or use such a key is a defect.
 */
export const makeTokenSigner: Effect.Effect<TokenSigner> = Effect.gen(function* () {
  const signature = yield* Signature.Signature
  const random = yield* SecureRandom.SecureRandom
  const { privateKey, publicKey } = yield* signature.generateKeyPair(Signature.ecdsaP256)
  const keyId = Base64Url.encode(yield* random.randomBytes(KEY_ID_BYTES))
  const header = part({ alg: ALGORITHM, kid: keyId, typ: "JWT" })
  const webKey = yield* KeyFormat.encode(KeyFormat.jwk, publicKey)
  return {
    keySet: { keys: [{ ...webKey, kid: keyId, alg: ALGORITHM, use: "sig" }] },
    sign: Effect.fn("TokenSigner.sign")(function* (claims: TokenClaims) {
      const signed = `${header}.${part(claims)}`
      const proof = yield* Effect.orDie(signature.sign(privateKey, new TextEncoder().encode(signed)))
      return `${signed}.${Base64Url.encode(proof)}`
    })
  }
}).pipe(Effect.orDie, Effect.provide(Signature.layerWebCrypto.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))))

const part = (value: object) => Base64Url.encode(JSON.stringify(value))
