import { RunId, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { RuntimeHealth } from "./HealthGroup.ts"
import { Timestamp } from "./Run.ts"

const optional = Schema.optionalKey

/** A series: the value at `data[i]` belongs to `labels[i]`. */
export const Chart = Schema.Struct({
  labels: Schema.Array(Schema.String),
  data: Schema.Array(Schema.Number)
}).annotate({ identifier: "Chart", description: "A sparse series; time labels are the start of their bucket, UTC" })
export type Chart = typeof Chart.Type

export const DashboardKpis = Schema.Struct({
  totalRuns: Schema.Int,
  activeRuns: Schema.Int,
  completedRuns: Schema.Int,
  failedRuns: Schema.Int,
  cancelledRuns: Schema.Int,
  suspendedRuns: Schema.Int,
  declinedRuns: Schema.Int.annotate({ description: "Completed runs whose last decision was negative" }),
  totalSignals: Schema.Int,
  totalTokens: Schema.Number,
  totalCostUsd: Schema.Number.annotate({ description: "Two decimals" }),
  avgDurationMs: Schema.NullOr(Schema.Int).annotate({ description: "Of completed runs; null when there is none" }),
  successRate: optional(Schema.Number.annotate({ description: "0 to 1; absent when no run has ended" }))
}).annotate({ identifier: "DashboardKpis", description: "Runs created, and signals emitted, in the window" })
export type DashboardKpis = typeof DashboardKpis.Type

/** A run of the overview: the keys of the specification, and what the pickers of a console read. */
export const RecentRun = Schema.Struct({
  id: RunId,
  status: RunStatus,
  runtimeKind: Schema.String,
  sourceRef: optional(Schema.String),
  source: optional(Schema.Struct({ kind: optional(Schema.String), ref: optional(Schema.String) })),
  metadata: Schema.Struct({ environment: optional(Schema.String), scenarioRef: optional(Schema.String) }),
  startedAt: optional(Timestamp),
  endedAt: optional(Timestamp),
  createdAt: Timestamp
}).annotate({ identifier: "RecentRun" })
export type RecentRun = typeof RecentRun.Type

/** The charts of `GET /dashboard/overview` (run-control-plane "Dashboard", http-details section 10). */
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
  identifier: "DashboardCharts"
})
export type DashboardCharts = typeof DashboardCharts.Type

export const DashboardOverview = Schema.Struct({
  kpis: DashboardKpis,
  recentRuns: Schema.Array(RecentRun),
  runtimeHealth: RuntimeHealth,
  charts: DashboardCharts
}).annotate({ identifier: "DashboardOverview" })
export type DashboardOverview = typeof DashboardOverview.Type

export const AgentMetrics = Schema.Struct({
  participantId: Schema.String,
  runs: Schema.Int.annotate({ description: "Runs with an event of the participant" }),
  messages: Schema.Int,
  signals: Schema.Int,
  averageConfidence: Schema.Number.annotate({ description: "Mean confidence of its signals; 0 when none has one" })
}).annotate({ identifier: "AgentMetrics" })
export type AgentMetrics = typeof AgentMetrics.Type
