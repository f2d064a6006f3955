import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Identity } from "./Identity.ts"
import { type SigningKey, TokenAlgorithm } from "./JsonWebKeys.ts"

/** Seconds a token may be past its `exp`, or before its `nbf`, for clocks that differ (runtime-wire section 6.3). */
export const CLOCK_LEEWAY_SECONDS = 60

/** A header with `crit` names an extension that must be understood; none is. */
const Header = Schema.fromJsonString(
  Schema.Struct({
    alg: TokenAlgorithm,
    kid: Schema.optional(Schema.String),
    crit: Schema.optionalKey(Schema.Never)
  })
)

/** What a token may allow (runtime-wire section 6.2). A wrongly typed scope invalidates the whole token. */
const Scopes = Schema.Struct({
  allowed_modes: Schema.optional(Schema.Array(Schema.String)),
  can_start_sessions: Schema.optional(Schema.Boolean),
  max_open_sessions: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  can_manage_mode_registry: Schema.optional(Schema.Boolean),
  is_observer: Schema.optional(Schema.Boolean)
})

const Claims = Schema.fromJsonString(
  Schema.Struct({
    iss: Schema.String,
    aud: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
    sub: Schema.NonEmptyString,
    exp: Schema.Finite,
    nbf: Schema.optional(Schema.Finite),
    macp_scopes: Schema.optional(Scopes)
  })
)

const decodeHeader = Schema.decodeUnknownOption(Header)
const decodeClaims = Schema.decodeUnknownOption(Claims)

export interface TokenRules {
  readonly issuer: string
  readonly audience: string
  readonly algorithms: ReadonlySet<TokenAlgorithm>
}

/**
 * Who a compact JWS says is calling (runtime-wire section 6.3): algorithm, signature, issuer, audience and times are
 * checked. Undefined when any of them is wrong. `now` is in Unix milliseconds.
 */
export const identityOfToken = (
  token: string,
  keys: ReadonlyArray<SigningKey>,
  rules: TokenRules,
  now: number
): Identity | undefined => {
  const parts = token.split(".")
  const [header = "", claims = "", signature = ""] = parts
  if (parts.length !== 3) return undefined
  const decoded = Option.getOrUndefined(decodeHeader(textOf(header)))
  if (decoded === undefined || !rules.algorithms.has(decoded.alg)) return undefined
  const candidates = keysFor(decoded.alg, decoded.kid, keys)
  const signed = Buffer.from(`${header}.${claims}`)
  const bytes = Buffer.from(signature, "base64url")
  if (!candidates.some(({ matches }) => matches(signed, bytes))) return undefined
  return identityOfClaims(textOf(claims), rules, now)
}

/** The key the token names when there is one, otherwise every key of its kind. */
const keysFor = (algorithm: TokenAlgorithm, id: string | undefined, keys: ReadonlyArray<SigningKey>) => {
  const fitting = keys.filter((key) => key.algorithm === algorithm)
  const named = id === undefined ? [] : fitting.filter((key) => key.id === id)
  return named.length > 0 ? named : fitting
}

const identityOfClaims = (text: string, rules: TokenRules, now: number): Identity | undefined => {
  const claims = Option.getOrUndefined(decodeClaims(text))
  if (claims === undefined || claims.iss !== rules.issuer) return undefined
  const audiences = typeof claims.aud === "string" ? [claims.aud] : claims.aud
  const seconds = now / 1_000
  const hasEnded = seconds > claims.exp + CLOCK_LEEWAY_SECONDS
  const hasBegun = claims.nbf === undefined || seconds >= claims.nbf - CLOCK_LEEWAY_SECONDS
  if (!audiences.includes(rules.audience) || hasEnded || !hasBegun) return undefined
  const scopes = claims.macp_scopes ?? {}
  return {
    sender: claims.sub,
    // Unlike in a static token, an empty list allows nothing.
    allowedModes: scopes.allowed_modes === undefined ? undefined : new Set(scopes.allowed_modes),
    canStartSessions: scopes.can_start_sessions ?? true,
    maxOpenSessions: scopes.max_open_sessions,
    canManageModeRegistry: scopes.can_manage_mode_registry ?? false,
    isObserver: scopes.is_observer ?? false
  }
}

const textOf = (part: string): string => Buffer.from(part, "base64url").toString()
