import * as Effect from "effect/Effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose"

/** The claims of a runtime token (docs/internals/runtime.md#token-service); times are Unix seconds. */
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
  /** The public keys that check the signatures: the content of `/.well-known/jwks.json`. */
  readonly keySet: { readonly keys: ReadonlyArray<object> }
}

/** Every runtime takes it without being asked to (docs/internals/runtime.md#signed-tokens). */
const ALGORITHM = "ES256"

/**
 * Signs with a key pair that is made here and never leaves the process: tokens of an earlier start are void, and there
 * is not a secret. That the platform cannot make or use such a key is a defect.
 */
export const makeTokenSigner: Effect.Effect<TokenSigner> = Effect.promise(async () => {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  const webKey = await exportJWK(publicKey)
  const header = { alg: ALGORITHM, kid: await calculateJwkThumbprint(webKey), typ: "JWT" }
  return {
    keySet: { keys: [{ ...webKey, kid: header.kid, alg: ALGORITHM, use: "sig" }] },
    sign: Effect.fn("TokenSigner.sign")((claims: TokenClaims) =>
      Effect.promise(() => new SignJWT({ ...claims }).setProtectedHeader(header).sign(privateKey))
    )
  }
})
