import { type Actor, CurrentActor, LauncherApi } from "@runplane/api"
import { withBudgetRetry } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
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
      runExample: ({ payload }) =>
        CurrentActor.pipe(
          Effect.flatMap((actor) => examples.run(payload, personIdOfCaller(actor))),
          withBudgetRetry,
          Effect.tapErrorTag("LaunchesFull", () => retryLater)
        ),
      queue: () => examples.queue
    })
  })
)

/** The caller as a person of the inbox: a key by its name, a token by its subject. */
export const personIdOfCaller = ({ actorId, actorType }: Actor): string | undefined => {
  switch (actorType) {
    case "api-key":
      return actorId
    case "user":
      return actorId.replace(/^user:/, "")
    default:
      return undefined
  }
}

/** The processes of the agents. */
export const ProcessesHttp = HttpApiBuilder.group(
  LauncherApi,
  "processes",
  Effect.fnUntraced(function* (handlers) {
    const examples = yield* ExampleRuns
    return handlers.handleAll({
      list: () => examples.processes,
      stop: ({ params }) => examples.stopProcess(params.id)
    })
  })
)

/** When slots for another launch may be free again, seconds. */
const RETRY_AFTER = "10"

const retryLater = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", RETRY_AFTER))
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
