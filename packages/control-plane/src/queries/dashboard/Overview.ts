import type {
  Chart,
  DashboardCharts,
  DashboardKpis,
  DashboardOverview,
  DashboardTrends,
  ScenarioFigures
} from "@runplane/api"
import { nanoUsd, sumUsd } from "@runplane/domain"
import type { CountAt, CountOf, CreatedRuns, OverviewRows, ScenarioRuns } from "./DashboardRepository.ts"
import type { Latency } from "./RunDurations.ts"

const sumOf = <A>(rows: ReadonlyArray<A>, value: (row: A) => number): number =>
  rows.reduce((sum, row) => sum + value(row), 0)

const ended = (runs: { readonly completed: number; readonly failed: number; readonly cancelled: number }) =>
  runs.completed + runs.failed + runs.cancelled

const NANO_PER_CENT = 10_000_000

/** The key figures (docs/reference/search.md#dashboard-figures). */
export const kpisOf = ({ created, latencies, signals }: OverviewRows): DashboardKpis => {
  const completedRuns = sumOf(created, (row) => row.completed)
  const failedRuns = sumOf(created, (row) => row.failed)
  const cancelledRuns = sumOf(created, (row) => row.cancelled)
  const all = ended({ completed: completedRuns, failed: failedRuns, cancelled: cancelledRuns })
  const timed = sumOf(created, (row) => row.timed)
  const cost = sumUsd(created.map((row) => row.cost))
  const guessed = sumUsd(created.map((row) => row.guessed))
  const [p50, p95] = latencies.find(({ at }) => at === null)?.percentiles ?? []
  return {
    totalRuns: sumOf(created, (row) => row.runs),
    activeRuns: sumOf(created, (row) => row.waiting + row.running + row.suspended),
    completedRuns,
    failedRuns,
    cancelledRuns,
    suspendedRuns: sumOf(created, (row) => row.suspended),
    declinedRuns: sumOf(created, (row) => row.declined),
    totalSignals: sumOf(signals, (row) => row.count),
    totalTokens: sumOf(created, (row) => row.tokens),
    totalCostUsd: Math.round(nanoUsd(cost) / NANO_PER_CENT) / 100,
    totalCostUsdExact: cost,
    ...(guessed > 0 && { guessedCostUsd: guessed }),
    avgDurationMs: timed === 0 ? null : Math.round(sumOf(created, (row) => row.duration) / timed),
    ...(p50 !== undefined && { p50DurationMs: Math.round(p50) }),
    ...(p95 !== undefined && { p95DurationMs: Math.round(p95) }),
    ...(all > 0 && { successRate: completedRuns / all })
  }
}

/** The key figures over time, by the time of creation (docs/reference/search.md#dashboard-figures). */
export const trendsOf = ({ created }: OverviewRows): DashboardTrends => ({
  labels: created.map(({ at }) => at.toISOString()),
  totalRuns: created.map(({ runs }) => runs),
  activeRuns: created.map(({ running, suspended, waiting }) => waiting + running + suspended),
  completedRuns: created.map(({ completed }) => completed),
  failedRuns: created.map(({ failed }) => failed),
  cancelledRuns: created.map(({ cancelled }) => cancelled),
  suspendedRuns: created.map(({ suspended }) => suspended),
  declinedRuns: created.map(({ declined }) => declined),
  tokens: created.map(({ tokens }) => tokens),
  costUsd: created.map(({ cost }) => cost),
  guessedCostUsd: created.map(({ guessed }) => guessed)
})

const figuresOf = (row: ScenarioRuns): Omit<ScenarioFigures, "scenario"> => ({
  runs: row.runs,
  activeRuns: row.waiting + row.running + row.suspended,
  completedRuns: row.completed,
  failedRuns: row.failed,
  declinedRuns: row.declined,
  tokens: row.tokens,
  costUsd: row.cost,
  ...(row.guessed > 0 && { guessedCostUsd: row.guessed }),
  avgDurationMs: row.timed === 0 ? null : Math.round(row.duration / row.timed)
})

/** The results of the runs of each scenario, and of all others together. */
export const scenariosOf = ({
  otherScenarios,
  scenarios
}: OverviewRows): Pick<DashboardOverview, "otherScenarios" | "scenarios"> => ({
  scenarios: scenarios.map((row) => ({ scenario: row.label, ...figuresOf(row) })),
  ...(otherScenarios !== undefined && {
    otherScenarios: { count: Number(otherScenarios.label), ...figuresOf(otherScenarios) }
  })
})

/** Scenarios of the chart, the most frequent ones. */
const CHARTED_SCENARIOS = 10

/** The thirteen charts (docs/reference/search.md#dashboard-figures). Empty buckets are omitted. */
export const chartsOf = (rows: OverviewRows): DashboardCharts => {
  const ofCreated = (value: (row: CreatedRuns) => number) => overTime(rows.created, value)
  const latencies = rows.latencies.filter(isOfBucket)
  const ofLatency = (value: (row: Latency) => number) => overTime(latencies, (row) => Math.round(value(row)))
  const count = (row: CountAt) => row.count
  return {
    runVolume: ofCreated((row) => row.runs),
    latency: ofLatency((row) => row.mean),
    signalVolume: overTime(rows.signals, count),
    errorClasses: byLabel(rows.errors),
    throughput: overTime(rows.throughput, count),
    queueDepth: ofCreated((row) => row.waiting),
    latencyP50: ofLatency((row) => row.percentiles[0] ?? 0),
    latencyP95: ofLatency((row) => row.percentiles[1] ?? 0),
    latencyP99: ofLatency((row) => row.percentiles[2] ?? 0),
    cost: ofCreated((row) => row.cost),
    successRate: ofCreated((row) => (ended(row) === 0 ? 0 : (row.completed / ended(row)) * 100)),
    decisionOutcome: overTime(rows.decisions, count),
    perScenario: byLabel(rows.scenarios.slice(0, CHARTED_SCENARIOS).map(({ label, runs }) => ({ label, count: runs })))
  }
}

const isOfBucket = (row: Latency): row is Latency & { readonly at: Date } => row.at !== null

const overTime = <Row extends { readonly at: Date }>(rows: ReadonlyArray<Row>, value: (row: Row) => number): Chart => ({
  labels: rows.map((row) => row.at.toISOString()),
  data: rows.map(value)
})

const byLabel = (rows: ReadonlyArray<CountOf>): Chart => ({
  labels: rows.map((row) => row.label),
  data: rows.map((row) => row.count)
})
