import { ControlPlaneApi } from "@runplane/api"
import { CircuitBreaker } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { Observers } from "../observer/Observers.ts"
import { Metrics } from "../telemetry/Metrics.ts"
import { Health } from "./Health.ts"

/** The public probes and the metrics (http-details sections 13.4 and 13.5). */
export const HealthHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "health",
  Effect.fn(function* (handlers) {
    const breaker = yield* CircuitBreaker
    const health = yield* Health
    const metrics = yield* Metrics
    const observers = yield* Observers

    return handlers.handleAll({
      healthz: () => Effect.succeed({ status: "ok" as const }),
      readyz: () => health.readiness,
      metrics: () =>
        Effect.gen(function* () {
          const counts = yield* breaker.counts
          return yield* metrics.scrape({
            activeRuntimeStreams: yield* observers.active,
            circuitState: yield* breaker.state,
            circuitSuccesses: counts.successes,
            circuitFailures: counts.failures
          })
        })
    })
  })
)
