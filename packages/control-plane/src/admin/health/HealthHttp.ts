import { ControlPlaneApi } from "@runplane/api"
import { PoolUse } from "@runplane/database"
import { CircuitBreaker } from "@runplane/runtime"
import { readinessAnswer, Shutdown } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { AppendQueue } from "../../event-log/append/AppendQueue.ts"
import { WebhookBacklog } from "../../features/webhooks/DeliveryQueue.ts"
import { Observers } from "../../observe/Observers.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { Health } from "./Health.ts"

/** The public probes and the metrics (docs/reference/admin.md#readiness, docs/reference/admin.md#metrics-endpoint). */
export const HealthHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "health",
  Effect.fnUntraced(function* (handlers) {
    const breaker = yield* CircuitBreaker
    const health = yield* Health
    const metrics = yield* Metrics
    const observers = yield* Observers
    const appends = yield* AppendQueue
    const backlog = yield* WebhookBacklog
    const pool = yield* PoolUse
    const shutdown = yield* Shutdown

    return handlers.handleAll({
      healthz: () => Effect.succeed({ status: "ok" as const }),
      livez: () => Effect.succeed({ status: "ok" as const }),
      readyz: ({ query }) =>
        Effect.gen(function* () {
          return readinessAnswer(yield* health.readiness, { ...query, stopping: yield* shutdown.stopping })
        }),
      metrics: () =>
        Effect.gen(function* () {
          const counts = yield* breaker.counts
          const { inUse, max, waiting } = pool
          return yield* metrics.scrape({
            activeRuntimeStreams: yield* observers.active,
            oldestAppendMs: (yield* appends.oldest)?.waitedMs ?? 0,
            waitingAppends: yield* appends.waiting,
            pool: { inUse, max, waiting },
            webhookBacklog: yield* backlog.count,
            circuitState: yield* breaker.state,
            circuitSuccesses: counts.successes,
            circuitFailures: counts.failures
          })
        })
    })
  })
)
