import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose"
import { readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { type Held, heldIn, nameOf, subjectOf } from "./Claims.ts"
import { type FindKey, type KeysUnavailable, makeIssuerKeys } from "./IssuerKeys.ts"

/** Seconds a token may be past its `exp`, or before its `nbf`, for clocks that differ. */
const CLOCK_LEEWAY_SECONDS = 60

/** Signatures that only the issuer can make: neither `none` nor shared secrets. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
]

/** A token that gives no access. The reason is for its sender: it reveals nothing that is not in the token. */
export class TokenRefused extends Data.TaggedError("TokenRefused")<{ readonly reason: string }> {}

/** Whom a token is about. */
export interface Holder extends Held {
  readonly subject: string
  /** What people call the holder; undefined where the token has no usable name. */
  readonly name: string | undefined
  /** From when on the token is refused. */
  readonly expiresAtUnixMs: number
}

/** Three parts of base64url: the form of every signed token, which a key does not have by chance. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** Whether a text could be a signed token. */
export const isCompactToken = (text: string): boolean => COMPACT.test(text)

/**
 * The OpenID Connect issuer whose signed tokens are taken where keys are
 * (docs/reference/http.md#tokens). Undefined without a configured issuer.
 */
export class TokenVerifier extends Context.Service<
  TokenVerifier,
  | {
      /** The claim that roles are read from. */
      readonly roleClaim: string
      readonly verify: (token: string) => Effect.Effect<Holder, TokenRefused | KeysUnavailable>
    }
  | undefined
>()("runplane/server/TokenVerifier") {
  static readonly layer = Layer.effect(
    TokenVerifier,
    Effect.gen(function* () {
      const { audience, groupsClaim, issuer, roleClaim } = yield* readSettings({
        issuer: ServiceSettings.OIDC_ISSUER,
        audience: ServiceSettings.OIDC_AUDIENCE,
        roleClaim: ServiceSettings.OIDC_ROLE_CLAIM,
        groupsClaim: ServiceSettings.OIDC_GROUPS_CLAIM
      })
      if (issuer === undefined) return undefined
      const keys = yield* makeIssuerKeys(issuer)

      const verify = Effect.fn("TokenVerifier.verify")(function* (token: string) {
        const options: JWTVerifyOptions = {
          algorithms: ALGORITHMS,
          issuer,
          audience: [...audience],
          clockTolerance: CLOCK_LEEWAY_SECONDS,
          currentDate: new Date(yield* Clock.currentTimeMillis),
          requiredClaims: ["exp"]
        }
        const find = yield* keys.current
        const claims = yield* Effect.catchIf(
          payloadOf(token, find, options),
          (error) => error instanceof errors.JWKSNoMatchingKey,
          (error) =>
            Effect.flatMap(keys.newerThan(find), (newer) =>
              newer === undefined ? Effect.fail(error) : payloadOf(token, newer, options)
            )
        ).pipe(Effect.mapError((error) => new TokenRefused({ reason: reasonOf(error) })))
        const subject = subjectOf(claims)
        if (subject === undefined) return yield* new TokenRefused({ reason: "it has no usable subject" })
        // The verification requires the claim.
        const expiresAtUnixMs = ((claims.exp ?? 0) + CLOCK_LEEWAY_SECONDS) * 1_000
        const held = heldIn(claims, { role: roleClaim, groups: groupsClaim })
        return { subject, name: nameOf(claims), expiresAtUnixMs, ...held }
      })
      return { roleClaim, verify }
    })
  )
}

/** The claims of a token, checked. Where it names no key, every key of its kind is tried. */
const payloadOf = (token: string, find: FindKey, options: JWTVerifyOptions): Effect.Effect<JWTPayload, unknown> =>
  Effect.tryPromise({
    try: async () => {
      try {
        return (await jwtVerify(token, find, options)).payload
      } catch (error) {
        if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
        for await (const key of error) {
          try {
            return (await jwtVerify(token, key, options)).payload
          } catch (failure) {
            if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
          }
        }
        throw new errors.JWSSignatureVerificationFailed()
      }
    },
    catch: (error) => error
  })

const CLAIM_FAULTS: Readonly<Record<string, string>> = {
  iss: "another issuer made it",
  aud: "it is for another audience",
  nbf: "it is not valid yet",
  exp: "it does not say when it expires"
}

/** What is wrong with a token, for its holder. */
const reasonOf = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return "it has expired"
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_FAULTS[error.claim] ?? "its claims are malformed"
  if (error instanceof errors.JOSEAlgNotAllowed) return "its algorithm is not allowed"
  if (error instanceof errors.JWKSNoMatchingKey) return "its issuer has no such key"
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong"
  return "it is malformed"
}
