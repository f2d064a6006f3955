import { LauncherApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { LaunchCompiler } from "../compile/LaunchCompiler.ts"
import { ExampleRuns } from "../examples/ExampleRuns.ts"
import { LauncherSettings } from "../LauncherSettings.ts"

/** Compilation and the example flow. */
export const LaunchHttp = HttpApiBuilder.group(
  LauncherApi,
  "launch",
  Effect.fnUntraced(function* (handlers) {
    const compiler = yield* LaunchCompiler
    const examples = yield* ExampleRuns
    return handlers.handleAll({
      compile: ({ payload }) => compiler.compile(payload),
      runExample: ({ payload }) => examples.run(payload)
    })
  })
)

/** The probe. */
export const HealthHttp = HttpApiBuilder.group(
  LauncherApi,
  "health",
  Effect.fnUntraced(function* (handlers) {
    const { serviceName } = yield* LauncherSettings
    return handlers.handle("healthz", () => Effect.succeed({ ok: true as const, service: serviceName }))
  })
)
