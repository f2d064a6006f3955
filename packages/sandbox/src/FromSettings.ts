import { sentenceOf, validateSettings } from "@runplane/server"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ControlServer } from "./control/ControlServer.ts"
import { Sandbox } from "./Sandbox.ts"
import { DEFAULT_OPTIONS } from "./SandboxOptions.ts"
import { type Settings, settings } from "./Settings.ts"

const sandbox = ({ credentials, options }: Settings) => {
  switch (credentials.kind) {
    case "development":
      return Sandbox.layer(options)
    case "static":
      return Sandbox.layerTokens(credentials.tokens, options)
    case "signed":
      return Sandbox.layerSigned(credentials.tokens, options).pipe(Layer.provide(credentials.keys))
  }
}

const announced = Layer.effectDiscard(
  Effect.flatMap(Sandbox, ({ address }) => Console.log(`sandbox runtime listening on ${address}`))
)

const control = ({ controlPort, options }: Settings) =>
  Option.match(controlPort, {
    onNone: () => Layer.empty,
    onSome: (port) =>
      Layer.effectDiscard(
        Effect.flatMap(ControlServer, ({ address }) => Console.log(`control interface on http://${address}`))
      ).pipe(Layer.provide(ControlServer.layer({ host: options.host ?? DEFAULT_OPTIONS.host, port })))
  })

/** Warns of settings without an effect, such as misspelt names. */
const sayWarnings = Effect.flatMap(validateSettings("sandbox"), ({ warnings }) =>
  Effect.forEach(warnings, (warning) => Console.error(`sandbox: ${sentenceOf(warning)}`), { discard: true })
)

/** The sandbox alone, from its settings: what `main.ts` runs. */
export const layerFromSettings = Layer.unwrap(
  Effect.map(Effect.tap(settings, sayWarnings), (given) =>
    Layer.merge(announced, control(given)).pipe(Layer.provide(sandbox(given)))
  )
)
