import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CredentialRefused } from "./CredentialRefused.ts"
import type { Identity } from "./Identity.ts"
import type { TokenAlgorithm } from "./JsonWebKeys.ts"
import { KeySource } from "./KeySource.ts"
import { identityOfToken, type TokenRules } from "./SignedToken.ts"

/**
 * One entry of the static token list (docs/internals/runtime.md#identities). An empty or absent `allowed_modes` allows
 * all.
 */
export const StaticToken = Schema.Struct({
  token: Schema.NonEmptyString,
  sender: Schema.NonEmptyString,
  allowed_modes: Schema.optional(Schema.Array(Schema.String)),
  can_start_sessions: Schema.optional(Schema.Boolean),
  max_open_sessions: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  can_manage_mode_registry: Schema.optional(Schema.Boolean),
  is_observer: Schema.optional(Schema.Boolean)
})

export type StaticToken = typeof StaticToken.Type

/** The two accepted shapes of a token list: an array, or an object with the array under `tokens`. */
export const StaticTokens = Schema.Union([
  Schema.Array(StaticToken),
  Schema.Struct({ tokens: Schema.Array(StaticToken) })
])

/** How signed tokens are checked (docs/internals/runtime.md#signed-tokens); the keys come from a `KeySource`. */
export interface SignedTokenOptions {
  readonly issuer: string
  readonly audience?: string
  readonly algorithms?: ReadonlyArray<TokenAlgorithm>
  /** Static tokens that are accepted beside the signed ones; they hold no dot. */
  readonly tokens?: ReadonlyArray<StaticToken>
  /** Accepts a bearer token without a dot as the name of the caller, as with development credentials. */
  readonly acceptsNames?: boolean
}

export const DEFAULT_AUDIENCE = "macp-runtime"
export const DEFAULT_ALGORITHMS: ReadonlyArray<TokenAlgorithm> = ["RS256", "ES256"]

/** Turns the metadata of a call into an identity (docs/internals/runtime.md#bearer). */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    readonly authenticate: (metadata: Headers) => Effect.Effect<Identity, CredentialRefused>
    /** Every sender has proven its name; false where the name itself is a credential. */
    readonly verifiesSenders: boolean
  }
>()("runplane/sandbox/Authenticator") {
  /** Any bearer value becomes the sender (docs/internals/runtime.md#bearer); `observers` may observe as well. */
  static readonly layerDevelopment = (observers: ReadonlyArray<string>): Layer.Layer<Authenticator> => {
    const mayObserve = new Set(observers)
    return Layer.succeed(
      Authenticator,
      Authenticator.of({
        authenticate: (metadata) => {
          const sender = credentialOf(metadata)
          if (sender === undefined) return refuse(ANY_NAME)
          return Effect.succeed(developmentIdentity(sender, mayObserve.has(sender)))
        },
        verifiesSenders: false
      })
    )
  }

  /** Opaque secrets from a list. A dotted credential is a signed token, which this layer does not know. */
  static readonly layerTokens = (tokens: ReadonlyArray<StaticToken>): Layer.Layer<Authenticator> => {
    const find = staticTokens(tokens, LISTED)
    return Layer.succeed(
      Authenticator,
      Authenticator.of({ authenticate: (metadata) => find(credentialOf(metadata)), verifiesSenders: true })
    )
  }

  /**
   * Signed tokens, recognised by their dots, and static ones beside them. A credential that is one kind and fails is
   * not tried as the other; `x-macp-token` never holds a signed one (docs/internals/runtime.md#bearer).
   */
  static readonly layerSigned = (options: SignedTokenOptions): Layer.Layer<Authenticator, never, KeySource> => {
    const { acceptsNames = false, algorithms = DEFAULT_ALGORITHMS, audience = DEFAULT_AUDIENCE } = options
    const { issuer, tokens = [] } = options
    const rules = { issuer, audience, algorithms }
    const listed = new Set(tokens.map(({ token }) => token))
    const taken = `signed tokens of ${issuer} for ${audience} (${algorithms.join(" or ")}) as a bearer token`
    const taking = [taken, ...(tokens.length === 0 ? [] : [LISTED]), ...(acceptsNames ? [NAMES] : [])].join(" and ")
    const find = staticTokens(tokens, taking)
    const named = (name: string | undefined) =>
      acceptsNames && name !== undefined && !name.includes(".") && !listed.has(name)
        ? Effect.succeed(developmentIdentity(name, false))
        : find(name)
    return Layer.effect(
      Authenticator,
      Effect.map(KeySource, ({ keys }) =>
        Authenticator.of({
          authenticate: (metadata) => {
            const bearer = bearerOf(metadata)
            return bearer?.includes(".") ? verified(bearer, keys, rules, taking) : named(credentialOf(metadata))
          },
          verifiesSenders: !acceptsNames
        })
      )
    )
  }
}

/**
 * A development caller may do everything except observe, unless `isObserver` allows it
 * (docs/internals/runtime.md#bearer).
 */
export const developmentIdentity = (sender: string, isObserver: boolean): Identity => ({
  sender,
  allowedModes: undefined,
  canStartSessions: true,
  maxOpenSessions: undefined,
  canManageModeRegistry: true,
  isObserver
})

const BEARER = "Bearer "

const bearerOf = (metadata: Headers): string | undefined => {
  const authorization = metadata.get("authorization")
  return authorization?.startsWith(BEARER) ? authorization.slice(BEARER.length) : undefined
}

const credentialOf = (metadata: Headers): string | undefined => {
  const token = bearerOf(metadata) ?? metadata.get("x-macp-token")
  return token === null || token === "" ? undefined : token
}

const staticTokens = (tokens: ReadonlyArray<StaticToken>, taking: string) => {
  const identities = new Map(tokens.map((entry) => [entry.token, identityOf(entry)]))
  return (token: string | undefined): Effect.Effect<Identity, CredentialRefused> => {
    const identity = token === undefined || token.includes(".") ? undefined : identities.get(token)
    return identity === undefined ? refuse(taking) : Effect.succeed(identity)
  }
}

const verified = Effect.fnUntraced(function* (
  token: string,
  keys: KeySource["Service"]["keys"],
  rules: TokenRules,
  taking: string
) {
  const known = yield* Effect.mapError(keys, ({ message }) => new CredentialRefused({ message }))
  return yield* Effect.catchTags(identityOfToken(token, known, rules), {
    TokenExpired: ({ endedAt }) =>
      Effect.fail(new CredentialRefused({ message: `the token expired at ${basicTime(endedAt)} - ${LONGER}` })),
    TokenRefused: () => refuse(taking)
  })
})

/**
 * The identities that this runtime accepts, for the error of a refused caller. Without commas and colons, which some
 * gRPC libraries show percent-encoded.
 */
const ANY_NAME = "any name as a bearer token and the name is then the sender"
const NAMES = "any name without a dot"
const LONGER = "its issuer mints tokens with a longer life for a larger ttl_seconds"
const LISTED = "the tokens of its list as a bearer token or in x-macp-token"

/** Such as 20260701T100000Z. */
const basicTime = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, "")

/** Names the accepted credentials, and not the reason of the refusal. */
const refuse = (taking: string) =>
  Effect.fail(new CredentialRefused({ message: `missing or unknown credential - this runtime takes ${taking}` }))

const identityOf = (entry: StaticToken): Identity => ({
  sender: entry.sender,
  allowedModes:
    entry.allowed_modes === undefined || entry.allowed_modes.length === 0 ? undefined : new Set(entry.allowed_modes),
  canStartSessions: entry.can_start_sessions ?? true,
  maxOpenSessions: entry.max_open_sessions,
  canManageModeRegistry: entry.can_manage_mode_registry ?? false,
  isObserver: entry.is_observer ?? false
})
