import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, NotFound, runtimeErrors } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional } from "../validation/Rule.ts"

const CircuitState = Schema.Literals(["CLOSED", "OPEN", "HALF_OPEN"])

export const CircuitBreakerReset = Schema.Struct({
  status: Schema.Literal("ok"),
  state: Schema.Literal("CLOSED")
}).annotate({ identifier: "CircuitBreakerReset", description: "The breaker is closed" })

/** States that the breaker of this process entered, oldest first (run-control-plane "Administration"). */
export const CircuitBreakerHistory = Schema.Struct({
  state: CircuitState,
  history: Schema.Array(
    Schema.Struct({
      state: CircuitState,
      enteredAt: Schema.String.annotate({ format: "date-time" }),
      reason: Schema.String.annotate({ examples: ["5 consecutive failures"] })
    })
  )
}).annotate({
  identifier: "CircuitBreakerHistory",
  description: "At most the last 200 states, oldest first; kept by one process and lost with it"
})
export type CircuitBreakerHistory = typeof CircuitBreakerHistory.Type

/** What the runtime and the run records disagree on (run-control-plane "Administration", drift report). */
export const DriftReport = Schema.Struct({
  complete: Schema.Boolean.annotate({ description: "False when the listing was cut by its page cap or time-out" }),
  runtimeSessionCount: Schema.Int.annotate({ description: "All listed sessions, ended ones included" }),
  liveRuntimeSessionCount: Schema.Int.annotate({ description: "Listed sessions that are OPEN or SUSPENDED" }),
  trackedRunCount: Schema.Int.annotate({ description: "Unfinished runs that are bound to a session" }),
  untrackedSessions: Schema.Array(
    Schema.Struct({ sessionId: Schema.String, mode: Schema.String, state: Schema.String })
  ).annotate({ description: "Live sessions that no unfinished run belongs to" }),
  missingFromRuntime: Schema.NullOr(
    Schema.Array(Schema.Struct({ runId: Schema.String, runtimeSessionId: Schema.String }))
  ).annotate({ description: "Bound runs whose session is not live; null when the listing is not complete" })
}).annotate({ identifier: "DriftReport", description: "Differences of sessions and runs; nothing is repaired" })
export type DriftReport = typeof DriftReport.Type

/** A window that is not known, or a `since` that is no date, filters nothing: the console may send other windows. */
export const circuitHistoryQuery = querySchema({
  window: described(optional(queryString()), "1h, 6h, 24h or 7d; another value filters nothing", "24h"),
  since: described(optional(queryString()), "ISO 8601; wins over window; no date filters nothing")
})
export type CircuitHistoryQuery = typeof circuitHistoryQuery.schema.Type

const failures = [BadRequest, NotFound, Conflict, ...runtimeErrors] as const

/** Operation of the service (run-control-plane "Administration"; http-details sections 13.2, 13.3). */
export class AdminGroup extends HttpApiGroup.make("admin")
  .add(
    HttpApiEndpoint.post("resetCircuitBreaker", "/admin/circuit-breaker/reset", {
      success: CircuitBreakerReset
    }).annotateMerge(summary("Close the runtime's circuit breaker by hand")),
    HttpApiEndpoint.get("circuitBreakerHistory", "/admin/circuit-breaker/history", {
      query: circuitHistoryQuery.schema,
      success: CircuitBreakerHistory
    }).annotateMerge(requestDescription({ summary: "States of the circuit breaker", query: circuitHistoryQuery.rule })),
    HttpApiEndpoint.get("runtimeSessions", "/admin/runtime/sessions", {
      success: DriftReport,
      error: failures
    }).annotateMerge(summary("Compare the runtime's sessions with the runs"))
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
