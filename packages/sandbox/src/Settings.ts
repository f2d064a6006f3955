import { readSettings, SandboxSettings, type SettingsRefused, settingRefused } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type SignedTokenOptions, type StaticToken, StaticTokens } from "./auth/Authenticator.ts"
import { JsonWebKeySet, TokenAlgorithm } from "./auth/JsonWebKeys.ts"
import { KeySource } from "./auth/KeySource.ts"
import type { SandboxOptions } from "./SandboxOptions.ts"

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
const tokenList = Schema.fromJsonString(StaticTokens)
const keySetText = Schema.fromJsonString(JsonWebKeySet)

/** The settings of a sandbox that runs alone. Without tokens and issuer any bearer value is the caller's name. */
export const settings: Effect.Effect<Settings, SettingsRefused> = Effect.gen(function* () {
  const given = yield* readSettings(SandboxSettings)
  return {
    options: {
      host: given.SANDBOX_HOST,
      port: given.SANDBOX_PORT,
      compactOnTerminal: given.SANDBOX_COMPACT_ON_TERMINAL,
      release: given.SANDBOX_RELEASE,
      annotateStream: given.SANDBOX_ANNOTATE_STREAM,
      denialsAsStatus: given.SANDBOX_DENIALS_AS_STATUS,
      receipts: given.SANDBOX_RECEIPTS
    },
    controlPort: Option.fromUndefinedOr(given.SANDBOX_CONTROL_PORT),
    credentials: yield* credentialsOf(given)
  }
})

type Given = Effect.Success<ReturnType<typeof readSettings<typeof SandboxSettings>>>

/** The decoded text of a setting; undefined when it is not set. The problem hides the text: it may be a secret. */
const decoded = <A>(
  name: keyof Given,
  schema: Schema.ConstraintDecoder<A>,
  text: unknown,
  problem: string
): Effect.Effect<A | undefined, SettingsRefused> =>
  text === undefined
    ? Effect.succeed(undefined)
    : Effect.mapError(Schema.decodeUnknownEffect(schema)(text), () => settingRefused(name, problem))

const credentialsOf = Effect.fnUntraced(function* (given: Given): Effect.fn.Return<Credentials, SettingsRefused> {
  const list = yield* decoded(
    "SANDBOX_AUTH_TOKENS_JSON",
    tokenList,
    given.SANDBOX_AUTH_TOKENS_JSON,
    "must be a list of tokens"
  )
  const tokens = list !== undefined && "tokens" in list ? list.tokens : list
  const issuer = given.SANDBOX_AUTH_ISSUER
  if (issuer === undefined) return tokens === undefined ? { kind: "development" } : { kind: "static", tokens }
  const keySet = yield* decoded("SANDBOX_AUTH_JWKS_JSON", keySetText, given.SANDBOX_AUTH_JWKS_JSON, "must be a key set")
  const url = given.SANDBOX_AUTH_JWKS_URL
  const keys =
    keySet !== undefined ? KeySource.layerInline(keySet) : url !== undefined ? KeySource.layerUrl(url) : undefined
  if (keys === undefined) {
    return yield* settingRefused("SANDBOX_AUTH_ISSUER", "needs SANDBOX_AUTH_JWKS_JSON or SANDBOX_AUTH_JWKS_URL")
  }
  const known = yield* decoded(
    "SANDBOX_AUTH_JWT_ALGS",
    algorithms,
    given.SANDBOX_AUTH_JWT_ALGS,
    `must be algorithms out of ${TokenAlgorithm.literals.join(", ")}`
  )
  return {
    kind: "signed",
    keys,
    tokens: {
      issuer,
      acceptsNames: given.SANDBOX_ACCEPT_NAMES,
      audience: given.SANDBOX_AUTH_AUDIENCE,
      algorithms: known ?? [],
      tokens: tokens ?? []
    }
  }
})
