import { Field, RunId, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { RuntimeHealth } from "./HealthGroup.ts"

const optional = Schema.optionalKey

/** A series: the value at `data[i]` belongs to `labels[i]`. */
export const Chart = Schema.Struct({
  labels: Field.texts("What each value is about: a time, or a name"),
  data: Schema.Array(Schema.Finite).annotate({ description: "The values, in the order of the labels" })
}).annotate({ identifier: "Chart", description: "A sparse series; time labels are the start of their bucket, UTC" })
export type Chart = typeof Chart.Type

export const DashboardKpis = Schema.Struct({
  totalRuns: Field.integer("Runs created in the window"),
  activeRuns: Field.integer("Of these, not ended"),
  completedRuns: Field.integer("Of these, completed"),
  failedRuns: Field.integer("Of these, failed"),
  cancelledRuns: Field.integer("Of these, cancelled"),
  suspendedRuns: Field.integer("Of these, suspended"),
  declinedRuns: Field.integer("Completed runs whose last decision was negative"),
  totalSignals: Field.integer("Signals emitted in the window"),
  totalTokens: Field.number("Tokens of all LLM calls of the runs"),
  totalCostUsd: Field.number("Estimated cost of these, US dollars with two decimals"),
  avgDurationMs: Schema.NullOr(Schema.Int).annotate({
    description: "Mean duration of completed runs, milliseconds; null when there is none"
  }),
  successRate: optional(Field.number("Completed runs as a share of ended ones, 0 to 1; absent when no run has ended"))
}).annotate({ identifier: "DashboardKpis", description: "Runs created, and signals emitted, in the window" })
export type DashboardKpis = typeof DashboardKpis.Type

/** A run of the overview: the keys of the specification, and what the pickers of a console read. */
export const RecentRun = Schema.Struct({
  id: RunId,
  status: RunStatus,
  runtimeKind: Field.text("Kind of the runtime", "rust"),
  sourceRef: optional(Field.text("What the run was made from")),
  source: optional(
    Schema.Struct({
      kind: optional(Field.text("What submitted the run")),
      ref: optional(Field.text("Same as sourceRef"))
    }).annotate({ description: "Where the run came from" })
  ),
  metadata: Schema.Struct({
    environment: optional(Field.text("metadata.environment of the run", "staging")),
    scenarioRef: optional(Field.text("metadata.scenarioRef of the run"))
  }).annotate({ description: "Two keys of the run's metadata" }),
  startedAt: optional(Field.time("When the service began to look for the session")),
  endedAt: optional(Field.time("When the run ended")),
  createdAt: Field.time("When the run was created")
}).annotate({ identifier: "RecentRun", description: "A run in short" })
export type RecentRun = typeof RecentRun.Type

/** The charts of `GET /dashboard/overview` (docs/http.md#dashboard-figures). */
export const CHART_NAMES = [
  "runVolume",
  "latency",
  "signalVolume",
  "errorClasses",
  "throughput",
  "queueDepth",
  "latencyP50",
  "latencyP95",
  "latencyP99",
  "cost",
  "successRate",
  "decisionOutcome",
  "perScenario"
] as const

export const DashboardCharts = Schema.Record(Schema.Literals(CHART_NAMES), Chart).annotate({
  identifier: "DashboardCharts",
  description: "Series over the window; buckets are minutes, hours or days by its length, and empty ones are left out"
})
export type DashboardCharts = typeof DashboardCharts.Type

export const DashboardOverview = Schema.Struct({
  kpis: DashboardKpis,
  recentRuns: Schema.Array(RecentRun).annotate({
    description: "At most 10 runs that are not archived, the newest first, whatever the window"
  }),
  runtimeHealth: RuntimeHealth,
  charts: DashboardCharts
}).annotate({ identifier: "DashboardOverview", description: "Everything an overview page shows" })
export type DashboardOverview = typeof DashboardOverview.Type

export const AgentMetrics = Schema.Struct({
  participantId: Field.text("Id of the participant", "impact-analyst"),
  runs: Field.integer("Runs with an event of the participant"),
  messages: Field.integer("Messages it sent"),
  signals: Field.integer("Signals it emitted"),
  averageConfidence: Field.number("Mean confidence of its signals, 0 to 1; 0 when none has one")
}).annotate({ identifier: "AgentMetrics", description: "What one participant did in all runs" })
export type AgentMetrics = typeof AgentMetrics.Type
