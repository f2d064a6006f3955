import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { BadRequest } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { oneOf } from "../validation/BodyRules.ts"
import { queryDate, queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional } from "../validation/Rule.ts"
import { AgentMetrics, DashboardOverview } from "./Dashboard.ts"

/** The query of `GET /dashboard/overview` (run-control-plane "Dashboard", http-details section 10). */
export const dashboardQuery = querySchema({
  window: described(optional(oneOf(["1h", "6h", "24h", "7d", "30d"])), "The time up to now; 24h unless said", "24h"),
  range: described(optional(oneOf(["24h", "7d", "30d"])), "Deprecated: use window, which wins over it", "7d"),
  from: described(optional(queryDate()), "Start, inclusive; wins over window and range", "2026-07-01"),
  to: described(optional(queryDate()), "End, exclusive; only together with from, now unless said", "2026-07-02"),
  scenarioRef: described(
    optional(queryString()),
    "Runs whose sourceRef equals this, or whose metadata.scenarioRef does, case ignored",
    "incident/region-failover@1.0.0"
  ),
  environment: described(optional(queryString()), "Runs whose metadata.environment equals this", "staging")
})
export type DashboardQuery = typeof dashboardQuery.schema.Type

/** Aggregates over runs (run-control-plane "Dashboard"). */
export class DashboardGroup extends HttpApiGroup.make("dashboard")
  .add(
    HttpApiEndpoint.get("overview", "/dashboard/overview", {
      query: dashboardQuery.schema,
      success: DashboardOverview,
      error: BadRequest
    }).annotateMerge(
      operation({
        id: "getOverview",
        summary: "Read key figures, recent runs, runtime health and charts",
        description:
          "Aggregates over a window of time. Buckets are minutes up to 6 h, hours up to 24 h (48 h with from and to), days " +
          "beyond. A runtime that does not answer shows in `runtimeHealth` and is no error.",
        failures: ["InvalidWindow"],
        query: dashboardQuery.rule
      })
    ),
    HttpApiEndpoint.get("agents", "/dashboard/agents/metrics", {
      success: Schema.Array(AgentMetrics)
    }).annotateMerge(
      operation({
        id: "listAgentMetrics",
        summary: "Read the figures of all participants",
        description: "Counted from the canonical events of all runs; participants of most runs come first."
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization)
  .annotateMerge(tag("Dashboard", "Aggregates over runs")) {}
