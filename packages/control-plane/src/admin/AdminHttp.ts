import { ControlPlaneApi } from "@runplane/api"
import { CircuitBreaker } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import { currentCaller } from "../http/CurrentCaller.ts"
import { AuditTrail } from "./AuditTrail.ts"
import { selectHistory } from "./BreakerHistory.ts"
import { DriftReport } from "./DriftReport.ts"

/** The administration of the service (run-control-plane "Administration"; http-details sections 13.2 and 13.3). */
export const AdminHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "admin",
  Effect.fn(function* (handlers) {
    const audit = yield* AuditTrail
    const breaker = yield* CircuitBreaker
    const drift = yield* DriftReport

    /** The breaker lives in memory: a reset that cannot be recorded has happened all the same. */
    const resetBreaker = Effect.gen(function* () {
      const before = yield* breaker.state
      yield* breaker.reset
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      yield* audit.recordDone({
        caller: yield* currentCaller,
        action: "circuit_breaker.reset",
        resource: "circuit-breaker",
        resourceId: "runtime",
        details: { before },
        at
      })
      return { status: "ok" as const, state: "CLOSED" as const }
    })

    return handlers.handleAll({
      resetCircuitBreaker: () => resetBreaker,
      circuitBreakerHistory: ({ query }) =>
        Effect.gen(function* () {
          // The state first: reading it lets an open circuit ripen, which adds to the history.
          const state = yield* breaker.state
          const history = selectHistory(yield* breaker.history, query, yield* Clock.currentTimeMillis)
          return { state, history }
        }),
      runtimeSessions: () => drift.make
    })
  })
).pipe(Layer.provide([AuditTrail.layer, DriftReport.layer]))
