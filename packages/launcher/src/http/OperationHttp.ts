import { LauncherApi } from "@runplane/api"
import { changeLogLevel, readinessAnswer, Shutdown } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { LauncherMetrics } from "../operate/LauncherMetrics.ts"
import { LauncherReadiness } from "../operate/LauncherReadiness.ts"

/** What a platform asks (docs/reference/http.md#readiness, docs/reference/http.md#metrics-endpoint). */
export const ProbesHttp = HttpApiBuilder.group(
  LauncherApi,
  "probes",
  Effect.fnUntraced(function* (handlers) {
    const readiness = yield* LauncherReadiness
    const shutdown = yield* Shutdown
    const { registry } = yield* LauncherMetrics
    return handlers.handleAll({
      livez: () => Effect.succeed({ status: "ok" as const }),
      readyz: ({ query }) =>
        Effect.gen(function* () {
          return readinessAnswer(yield* readiness.look, { ...query, stopping: yield* shutdown.stopping })
        }),
      metrics: () => Effect.promise(() => registry.metrics())
    })
  })
)

/** Operation of the service (docs/reference/http.md#log-level). */
export const AdminHttp = HttpApiBuilder.group(
  LauncherApi,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handle("setLogLevel", ({ payload }) => changeLogLevel(payload.level))
  })
)
