import { ControlPlaneApi } from "@runplane/api"
import { CircuitBreaker } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { AppendQueue } from "../../log/AppendQueue.ts"
import { Observers } from "../../observe/Observers.ts"
import { Metrics } from "../../react/metrics/Metrics.ts"
import { Health } from "./Health.ts"

/** The public probes and the metrics (docs/http.md#readiness, docs/http.md#metrics-endpoint). */
export const HealthHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "health",
  Effect.fn(function* (handlers) {
    const breaker = yield* CircuitBreaker
    const health = yield* Health
    const metrics = yield* Metrics
    const observers = yield* Observers
    const appends = yield* AppendQueue

    return handlers.handleAll({
      healthz: () => Effect.succeed({ status: "ok" as const }),
      readyz: () => health.readiness,
      metrics: () =>
        Effect.gen(function* () {
          const counts = yield* breaker.counts
          return yield* metrics.scrape({
            activeRuntimeStreams: yield* observers.active,
            oldestAppendMs: (yield* appends.oldest)?.waitedMs ?? 0,
            circuitState: yield* breaker.state,
            circuitSuccesses: counts.successes,
            circuitFailures: counts.failures
          })
        })
    })
  })
)
