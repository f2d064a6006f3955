import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type StaticToken, StaticTokens } from "./auth/Authenticator.ts"
import { Sandbox } from "./Sandbox.ts"
import { DEFAULT_OPTIONS } from "./SandboxOptions.ts"

/** The settings of a sandbox that runs alone. Without tokens any bearer value is accepted as the caller's name. */
const settings = Config.all({
  host: Config.String("SANDBOX_HOST").pipe(Config.withDefault(DEFAULT_OPTIONS.host)),
  port: Config.Int("SANDBOX_PORT").pipe(Config.withDefault(DEFAULT_OPTIONS.port)),
  compactOnTerminal: Config.Boolean("SANDBOX_COMPACT_ON_TERMINAL").pipe(Config.withDefault(false)),
  newerRuntime: Config.Boolean("SANDBOX_NEWER_RUNTIME").pipe(Config.withDefault(false)),
  tokens: Config.schema(Schema.fromJsonString(StaticTokens), "SANDBOX_AUTH_TOKENS_JSON").pipe(Config.option)
})

const announced = Layer.effectDiscard(
  Effect.flatMap(Sandbox, ({ address }) => Console.log(`sandbox runtime listening on ${address}`))
)

const program = Layer.unwrap(
  Effect.map(settings, ({ tokens, ...options }) =>
    announced.pipe(
      Layer.provide(
        Option.match(tokens, {
          onNone: () => Sandbox.layer(options),
          onSome: (list) => Sandbox.layerTokens(entriesOf(list), options)
        })
      )
    )
  )
)

const entriesOf = (list: typeof StaticTokens.Type): ReadonlyArray<StaticToken> =>
  "tokens" in list ? list.tokens : list

NodeRuntime.runMain(Layer.launch(program))
