import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decodeProtectedHeader, errors, jwtVerify } from "jose"
import type { Identity } from "./Identity.ts"
import type { SigningKey, TokenAlgorithm } from "./JsonWebKeys.ts"

/** Seconds a token may be past its `exp`, or before its `nbf`, for clocks that differ. */
export const CLOCK_LEEWAY_SECONDS = 60

/** What a token says and allows. A wrongly typed scope invalidates the whole token. */
const Claims = Schema.Struct({
  sub: Schema.NonEmptyString,
  macp_scopes: Schema.optional(
    Schema.Struct({
      allowed_modes: Schema.optional(Schema.Array(Schema.String)),
      can_start_sessions: Schema.optional(Schema.Boolean),
      max_open_sessions: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
      can_manage_mode_registry: Schema.optional(Schema.Boolean),
      is_observer: Schema.optional(Schema.Boolean)
    })
  )
})

const decodeClaims = Schema.decodeUnknownEffect(Claims)

/** The end of a token of the issuer is past. */
export class TokenExpired extends Data.TaggedError("TokenExpired")<{ readonly endedAt: Date }> {}

/** The token is not one of the issuer for this runtime. */
export class TokenRefused extends Data.TaggedError("TokenRefused")<{ readonly cause: unknown }> {}

const ExpiredClaims = Schema.Struct({ exp: Schema.Finite })
const isExpiredClaims = Schema.is(ExpiredClaims)

/** The library checks the times after the signature, so only the holder of a genuine token learns its end. */
const refusalOf = (cause: unknown) =>
  cause instanceof errors.JWTExpired && isExpiredClaims(cause.payload)
    ? new TokenExpired({ endedAt: new Date(cause.payload.exp * 1_000) })
    : new TokenRefused({ cause })

export interface TokenRules {
  readonly issuer: string
  readonly audience: string
  readonly algorithms: ReadonlyArray<TokenAlgorithm>
}

/**
 * Who a compact JWS says is calling. Algorithm, signature, issuer, audience and times are checked; it must have an end
 * and a subject. Only an end that is past is a reason for the caller.
 */
export const identityOfToken = Effect.fnUntraced(function* (
  token: string,
  keys: ReadonlyArray<SigningKey>,
  { algorithms, audience, issuer }: TokenRules
) {
  const { alg, kid } = yield* Effect.try({ try: () => decodeProtectedHeader(token), catch: refusalOf })
  const currentDate = new Date(yield* Clock.currentTimeMillis)
  const options = {
    algorithms: [...algorithms],
    audience,
    clockTolerance: CLOCK_LEEWAY_SECONDS,
    currentDate,
    issuer,
    requiredClaims: ["exp"]
  }
  const verify = (key: SigningKey) => Effect.tryPromise({ try: () => jwtVerify(token, key, options), catch: refusalOf })
  const { payload } = yield* Effect.firstSuccessOf([noKey, ...keysFor(alg, kid, keys).map(verify)])
  const { macp_scopes: scopes = {}, sub } = yield* Effect.mapError(decodeClaims(payload), refusalOf)
  return {
    sender: sub,
    // Unlike in a static token, an empty list allows nothing.
    allowedModes: scopes.allowed_modes === undefined ? undefined : new Set(scopes.allowed_modes),
    canStartSessions: scopes.can_start_sessions ?? true,
    maxOpenSessions: scopes.max_open_sessions,
    canManageModeRegistry: scopes.can_manage_mode_registry ?? false,
    isObserver: scopes.is_observer ?? false
  } satisfies Identity
})

const noKey = Effect.fail(new TokenRefused({ cause: "no key fits the token" }))

const KEY_TYPES: Readonly<Record<string, SigningKey["kty"]>> = { RS256: "RSA", ES256: "EC", HS256: "oct" }

/** The key the token names when there is one, otherwise every key of its kind. */
const keysFor = (algorithm = "", id: string | undefined, keys: ReadonlyArray<SigningKey>) => {
  const fitting = keys.filter(({ kty }) => kty === KEY_TYPES[algorithm])
  const named = id === undefined ? [] : fitting.filter(({ kid }) => kid === id)
  return named.length > 0 ? named : fitting
}
