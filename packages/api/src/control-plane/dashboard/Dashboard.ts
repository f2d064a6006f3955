import { Field, guessedPart, RunId, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { RuntimeHealth } from "../health/HealthGroup.ts"
import { RunUsage } from "../runs/Run.ts"

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
  totalCostUsdExact: optional(Field.number("The same with all decimals, nine at most")),
  guessedCostUsd: guessedPart,
  avgDurationMs: Schema.NullOr(Schema.Int).annotate({
    description: "Mean duration of completed runs, milliseconds; null when there is none"
  }),
  p50DurationMs: optional(Field.integer("Median duration of completed runs, milliseconds; absent without one")),
  p95DurationMs: optional(Field.integer("95th percentile of these, interpolated; absent without one")),
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
    scenarioRef: optional(Field.text("metadata.scenarioRef of the run")),
    totalTokens: optional(Field.number("Tokens of the whole run, once it has ended with any")),
    estimatedCostUsd: optional(Field.number("US dollars of the whole run, once it has ended with any")),
    guessedCostUsd: guessedPart,
    finalAction: optional(Field.text("Action of the decision that the run ended with", "go"))
  }).annotate({ description: "Some keys of the run's metadata" }),
  usage: optional(RunUsage),
  startedAt: optional(Field.time("When the service began to look for the session")),
  endedAt: optional(Field.time("When the run ended")),
  createdAt: Field.time("When the run was created")
}).annotate({ identifier: "RecentRun", description: "A run in short" })
export type RecentRun = typeof RecentRun.Type

/** The charts of `GET /dashboard/overview` (docs/reference/search.md#dashboard-figures). */
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

const perBucket = (description: string) => Schema.Array(Schema.Finite).annotate({ description })

/** Key figures over time: each list has one value for each label. */
export const DashboardTrends = Schema.Struct({
  labels: Field.texts("Starts of the buckets, UTC; those without a run are left out"),
  totalRuns: perBucket("Runs created in the bucket"),
  activeRuns: perBucket("Of these, not ended"),
  completedRuns: perBucket("Of these, completed"),
  failedRuns: perBucket("Of these, failed"),
  cancelledRuns: perBucket("Of these, cancelled"),
  suspendedRuns: perBucket("Of these, suspended"),
  declinedRuns: perBucket("Of these, completed with a negative decision"),
  tokens: perBucket("Tokens of their LLM calls"),
  costUsd: perBucket("Estimated cost of these, US dollars"),
  guessedCostUsd: optional(perBucket("Part of it whose models have no known price"))
}).annotate({ identifier: "DashboardTrends", description: "The key figures by the time at which runs were created" })
export type DashboardTrends = typeof DashboardTrends.Type

const scenarioFields = {
  runs: Field.integer("Runs created in the window"),
  activeRuns: Field.integer("Of these, not ended"),
  completedRuns: Field.integer("Of these, completed"),
  failedRuns: Field.integer("Of these, failed"),
  declinedRuns: Field.integer("Of these, completed with a negative decision"),
  tokens: Field.number("Tokens of their LLM calls"),
  costUsd: Field.number("Estimated cost of these, US dollars"),
  guessedCostUsd: guessedPart,
  avgDurationMs: Schema.NullOr(Schema.Int).annotate({
    description: "Mean duration of completed runs, milliseconds; null when there is none"
  })
}

export const ScenarioFigures = Schema.Struct({
  scenario: Field.text("Scenario that the runs count under, else unknown", "incident/failover@1.0.0"),
  ...scenarioFields
}).annotate({ identifier: "ScenarioFigures", description: "What the runs of one scenario came to" })
export type ScenarioFigures = typeof ScenarioFigures.Type

/** The scenarios that an answer does not list, together. */
export const OtherScenarios = Schema.Struct({
  count: Field.integer("Scenarios", 12),
  ...scenarioFields
}).annotate({ identifier: "OtherScenarios", description: "What the runs of all other scenarios came to" })
export type OtherScenarios = typeof OtherScenarios.Type

export const DashboardOverview = Schema.Struct({
  kpis: DashboardKpis,
  recentRuns: Schema.Array(RecentRun).annotate({
    description: "At most 10 runs that are not archived, the newest first, whatever the window"
  }),
  runtimeHealth: RuntimeHealth,
  charts: DashboardCharts,
  trends: DashboardTrends,
  scenarios: Schema.Array(ScenarioFigures).annotate({
    description: "The 50 most frequent scenarios and the 50 with the highest cost, the most frequent first"
  }),
  otherScenarios: optional(OtherScenarios)
}).annotate({ identifier: "DashboardOverview", description: "Everything an overview page shows" })
export type DashboardOverview = typeof DashboardOverview.Type

export const AgentMetrics = Schema.Struct({
  participantId: Field.text("Id of the participant", "impact-analyst"),
  runs: Field.integer("Runs with an event of the participant"),
  messages: Field.integer("Messages it sent"),
  signals: Field.integer("Signals it emitted"),
  averageConfidence: Field.number("Mean confidence of its signals, 0 to 1; 0 when no signal has one"),
  statedConfidence: Schema.optionalKey(
    Field.number("Mean confidence of its evaluations and votes, 0 to 1; absent when none states one")
  )
}).annotate({ identifier: "AgentMetrics", description: "What one participant did in all runs" })
export type AgentMetrics = typeof AgentMetrics.Type
