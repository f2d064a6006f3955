import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { isoDate } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { AgentMetrics, DashboardOverview } from "./Dashboard.ts"

const optional = Schema.optionalKey

/** The query of `GET /dashboard/overview` (docs/reference/search.md#dashboard-window). */
export const dashboardQuery = querySchema({
  window: optional(
    Schema.Literals(["1h", "6h", "24h", "7d", "30d"]).annotate(about("The time up to now; 24h unless said", "24h"))
  ),
  range: optional(
    Schema.Literals(["24h", "7d", "30d"]).annotate(about("Deprecated: use window, which wins over it", "7d"))
  ),
  from: optional(isoDate("Start, inclusive; wins over window and range", "2026-07-01")),
  to: optional(isoDate("End, exclusive; only together with from, now unless said", "2026-07-02")),
  scenarioRef: optional(
    Field.text(
      "Runs whose sourceRef equals this exactly, or whose whole metadata.scenarioRef does, case ignored",
      "incident/region-failover@1.0.0"
    )
  ),
  environment: optional(Field.text("Runs whose metadata.environment equals this", "staging"))
})
export type DashboardQuery = typeof dashboardQuery.Type

/** Aggregates over runs. */
export class DashboardGroup extends HttpApiGroup.make("dashboard")
  .add(
    HttpApiEndpoint.get("overview", "/dashboard/overview", {
      query: dashboardQuery,
      success: DashboardOverview,
      error: Failure.InvalidWindow
    }).annotateMerge(
      operation({
        id: "getOverview",
        access: "viewer",
        summary: "Read key figures, recent runs, runtime health and charts",
        description:
          "Aggregates over a window of time. Buckets are minutes up to 6 h, hours up to 24 h (48 h with from and to), days " +
          "beyond. A runtime that does not answer shows in `runtimeHealth` and is not an error."
      })
    ),
    HttpApiEndpoint.get("agents", "/dashboard/agents/metrics", {
      success: Schema.Array(AgentMetrics)
    }).annotateMerge(
      operation({
        id: "listAgentMetrics",
        access: "viewer",
        summary: "Read the figures of all participants",
        description: "Counted from the canonical events of all runs; participants of most runs come first."
      })
    )
  )
  .annotateMerge(tag("Dashboard", "Aggregates over runs")) {}
