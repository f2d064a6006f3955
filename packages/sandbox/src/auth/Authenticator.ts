import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Identity } from "./Identity.ts"

/** The credential is missing, unknown or malformed: UNAUTHENTICATED on every channel. */
export class CredentialRefused extends Data.TaggedError("CredentialRefused")<{ readonly message: string }> {}

/** One entry of the static token list (runtime-wire section 6.2). An empty or absent `allowed_modes` allows all. */
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

/**
 * Turns the metadata of a call into an identity. Development and static-token credentials live here; another kind, such as
 * signed tokens, is one more layer of this service.
 */
export class Authenticator extends Context.Service<
  Authenticator,
  { readonly authenticate: (metadata: Headers) => Effect.Effect<Identity, CredentialRefused> }
>()("runplane/sandbox/Authenticator") {
  /** Any bearer value becomes the sender (runtime-wire section 6.1, dev auth); `observers` may observe as well. */
  static readonly layerDevelopment = (observers: ReadonlyArray<string>): Layer.Layer<Authenticator> => {
    const mayObserve = new Set(observers)
    return Layer.succeed(
      Authenticator,
      Authenticator.of({
        authenticate: (metadata) => {
          const sender = credentialOf(metadata)
          if (sender === undefined) return refuse
          return Effect.succeed(developmentIdentity(sender, mayObserve.has(sender)))
        }
      })
    )
  }

  /** Opaque secrets from a list. A dotted credential is a signed token, which this layer does not know. */
  static readonly layerTokens = (tokens: ReadonlyArray<StaticToken>): Layer.Layer<Authenticator> => {
    const identities = new Map(tokens.map((entry) => [entry.token, identityOf(entry)]))
    return Layer.succeed(
      Authenticator,
      Authenticator.of({
        authenticate: (metadata) => {
          const token = credentialOf(metadata)
          const identity = token === undefined || token.includes(".") ? undefined : identities.get(token)
          return identity === undefined ? refuse : Effect.succeed(identity)
        }
      })
    )
  }
}

/** A development caller may do everything but, unless it is told so, observe (runtime-wire section 6.1). */
export const developmentIdentity = (sender: string, isObserver: boolean): Identity => ({
  sender,
  allowedModes: undefined,
  canStartSessions: true,
  maxOpenSessions: undefined,
  canManageModeRegistry: true,
  isObserver
})

const BEARER = "Bearer "

const credentialOf = (metadata: Headers): string | undefined => {
  const authorization = metadata.get("authorization")
  const token = authorization?.startsWith(BEARER) ? authorization.slice(BEARER.length) : metadata.get("x-macp-token")
  return token === null || token === "" ? undefined : token
}

const refuse = Effect.fail(new CredentialRefused({ message: "missing or unknown credential" }))

const identityOf = (entry: StaticToken): Identity => ({
  sender: entry.sender,
  allowedModes:
    entry.allowed_modes === undefined || entry.allowed_modes.length === 0 ? undefined : new Set(entry.allowed_modes),
  canStartSessions: entry.can_start_sessions ?? true,
  maxOpenSessions: entry.max_open_sessions,
  canManageModeRegistry: entry.can_manage_mode_registry ?? false,
  isObserver: entry.is_observer ?? false
})
