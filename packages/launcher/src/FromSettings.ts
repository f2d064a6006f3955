import {
  checkSettings,
  layerLogging,
  SettingsRefused,
  validateLaunchDeployment,
  warnWithoutAuthentication
} from "@runplane/server"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Launcher } from "./Launcher.ts"
import { listenSettings } from "./LauncherSettings.ts"

const announce = Layer.effectDiscard(
  Effect.flatMap(Launcher, ({ url }) =>
    Effect.andThen(Effect.logInfo(`the launch service listens on ${url}`), warnWithoutAuthentication)
  )
)

const service = Layer.unwrap(
  Effect.gen(function* () {
    yield* checkSettings("launcher", (texts) => Effect.succeed(validateLaunchDeployment(texts)))
    return Layer.provide(announce, Launcher.layerConfig(yield* listenSettings))
  })
)

// What stops the start is one line that says why; a defect keeps its whole story. The check of the settings logs by
// itself.
const complain = (cause: Cause.Cause<{ readonly message: string }>) => {
  const failure = Cause.findErrorOption(cause)
  if (Cause.hasInterruptsOnly(cause) || Cause.squash(cause) instanceof SettingsRefused) return Effect.void
  return failure._tag === "Some" ? Effect.logError(failure.value.message) : Effect.logError("unexpected failure", cause)
}

// An empty PROTO_CANCEL_CALLBACK_HOST says something else than an absent one, so empty values must come through.
export const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true }))

/** What `main.ts` runs: everything from the settings, which are checked before anything is started. */
export const layerFromSettings = service.pipe(
  Layer.tapCause(complain),
  Layer.provide(layerLogging),
  Layer.provide(environment)
)
