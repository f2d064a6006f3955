import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import {
  DEFAULT_ALGORITHMS,
  DEFAULT_AUDIENCE,
  type SignedTokenOptions,
  type StaticToken,
  StaticTokens
} from "./auth/Authenticator.ts"
import { JsonWebKeySet, TokenAlgorithm } from "./auth/JsonWebKeys.ts"
import { KeySource } from "./auth/KeySource.ts"
import { RELEASES } from "./core/Release.ts"
import { DEFAULT_OPTIONS, type SandboxOptions } from "./SandboxOptions.ts"

/** Settings that do not go together; the message names them. */
export class SettingsConflict extends Data.TaggedError("SettingsConflict")<{ readonly message: string }> {}

/** Who may call a sandbox that runs alone. */
export type Credentials =
  | { readonly kind: "development" }
  | { readonly kind: "static"; readonly tokens: ReadonlyArray<StaticToken> }
  | { readonly kind: "signed"; readonly tokens: SignedTokenOptions; readonly keys: Layer.Layer<KeySource> }

export interface Settings {
  readonly options: Partial<SandboxOptions>
  readonly credentials: Credentials
  /** Port of the control interface, none when it is not set. */
  readonly controlPort: Option.Option<number>
}

const algorithms = Schema.Array(TokenAlgorithm)

const environment = Config.all({
  options: Config.all({
    host: Config.String("SANDBOX_HOST").pipe(Config.withDefault(DEFAULT_OPTIONS.host)),
    port: Config.Int("SANDBOX_PORT").pipe(Config.withDefault(DEFAULT_OPTIONS.port)),
    compactOnTerminal: Config.Boolean("SANDBOX_COMPACT_ON_TERMINAL").pipe(Config.withDefault(false)),
    release: Config.schema(Schema.Literals(RELEASES), "SANDBOX_RELEASE").pipe(
      Config.withDefault(DEFAULT_OPTIONS.release)
    ),
    annotateStream: Config.Boolean("SANDBOX_ANNOTATE_STREAM").pipe(Config.withDefault(false)),
    denialsAsStatus: Config.Boolean("SANDBOX_DENIALS_AS_STATUS").pipe(Config.withDefault(false))
  }),
  controlPort: Config.Int("SANDBOX_CONTROL_PORT").pipe(Config.option),
  tokens: Config.schema(Schema.fromJsonString(StaticTokens), "SANDBOX_AUTH_TOKENS_JSON").pipe(Config.option),
  issuer: Config.String("SANDBOX_AUTH_ISSUER").pipe(Config.option),
  audience: Config.String("SANDBOX_AUTH_AUDIENCE").pipe(Config.withDefault(DEFAULT_AUDIENCE)),
  algorithms: Config.String("SANDBOX_AUTH_JWT_ALGS").pipe(
    Config.withDefault(DEFAULT_ALGORITHMS.join(",")),
    Config.map((text) => text.split(",").map((name) => name.trim()))
  ),
  keySet: Config.schema(Schema.fromJsonString(JsonWebKeySet), "SANDBOX_AUTH_JWKS_JSON").pipe(Config.option),
  keyUrl: Config.String("SANDBOX_AUTH_JWKS_URL").pipe(Config.option)
})

/** The settings of a sandbox that runs alone. Without tokens and issuer any bearer value is the caller's name. */
export const settings: Effect.Effect<Settings, Config.ConfigError | SettingsConflict> = Effect.gen(function* () {
  const { controlPort, options, ...auth } = yield* environment
  return { options, controlPort, credentials: yield* credentialsOf(auth) }
})

type AuthSettings = Omit<Config.Success<typeof environment>, "options" | "controlPort">

const credentialsOf = Effect.fnUntraced(function* (
  auth: AuthSettings
): Effect.fn.Return<Credentials, SettingsConflict> {
  const tokens = Option.map(auth.tokens, (list) => ("tokens" in list ? list.tokens : list))
  if (Option.isNone(auth.issuer)) {
    return Option.isNone(tokens) ? { kind: "development" } : { kind: "static", tokens: tokens.value }
  }
  const keys = Option.map(auth.keySet, KeySource.layerInline).pipe(
    Option.orElse(() => Option.map(auth.keyUrl, KeySource.layerUrl))
  )
  if (Option.isNone(keys)) {
    const message = "SANDBOX_AUTH_ISSUER needs SANDBOX_AUTH_JWKS_JSON or SANDBOX_AUTH_JWKS_URL"
    return yield* new SettingsConflict({ message })
  }
  const known = yield* Schema.decodeUnknownEffect(algorithms)(auth.algorithms).pipe(
    Effect.mapError(({ message }) => new SettingsConflict({ message: `SANDBOX_AUTH_JWT_ALGS: ${message}` }))
  )
  return {
    kind: "signed",
    keys: keys.value,
    tokens: {
      issuer: auth.issuer.value,
      audience: auth.audience,
      algorithms: known,
      tokens: Option.getOrElse(tokens, () => [])
    }
  }
})
