import * as PgClient from "@effect/sql-pg/PgClient"
import type { AgentMetrics, RecentRun, RunUsage } from "@runplane/api"
import { RunId, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BeginTransaction } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { usageColumn } from "../../event-log/runs/RunRow.ts"
import { dashboardSql, type RunFilter } from "./DashboardSql.ts"
import { type Latency, RunDurations } from "./RunDurations.ts"
import type { DashboardWindow } from "./WindowParts.ts"

/** Limits of the lists of an overview. */
const RECENT_RUNS = 10
const TOP_ERRORS = 10
/** Scenarios with the most runs, and as many with the highest cost; the others are one row. */
const LISTED_SCENARIOS = 50
/** The columns of the sums. */
const SUMMED = [
  ...["runs", "waiting", "running", "suspended", "completed", "failed", "cancelled", "declined", "tokens", "cost"],
  ...["guessed", "took", "timed"]
]
/** Participants of one response, those with the most runs. */
const MAX_AGENTS = 10_000

/** The current statuses of the runs that were created in one bucket. */
export interface CreatedRuns {
  readonly at: Date
  readonly runs: number
  /** Still queued, starting or binding their session. */
  readonly waiting: number
  readonly running: number
  readonly suspended: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly declined: number
  readonly tokens: number
  /** US dollars. */
  readonly cost: number
  /** Part of `cost` that is a guess. */
  readonly guessed: number
  /** Milliseconds of all completed runs with both times, and the number of these runs. */
  readonly duration: number
  readonly timed: number
}

export interface CountAt {
  readonly at: Date
  readonly count: number
}

export interface CountOf {
  readonly label: string
  readonly count: number
}

/** The current statuses of the runs of one scenario that were created in the window. */
export interface ScenarioRuns extends Omit<CreatedRuns, "at"> {
  readonly label: string
}

export interface OverviewRows {
  readonly created: ReadonlyArray<CreatedRuns>
  readonly latencies: ReadonlyArray<Latency>
  readonly throughput: ReadonlyArray<CountAt>
  readonly signals: ReadonlyArray<CountAt>
  readonly decisions: ReadonlyArray<CountAt>
  readonly errors: ReadonlyArray<CountOf>
  /** The most frequent ones first. */
  readonly scenarios: ReadonlyArray<ScenarioRuns>
  /** The sums of all scenarios that `scenarios` lacks, their number as the label; undefined without any. */
  readonly otherScenarios: ScenarioRuns | undefined
  readonly recent: ReadonlyArray<RecentRun>
}

/** A row of a chart. */
interface RunPart extends CreatedRuns {
  readonly chart: "created" | "error" | "scenario" | "others"
  readonly label: string
}

/**
 * The figures of an overview (docs/reference/search.md#dashboard-figures), aggregated from sums by time
 * (docs/reference/events.md#tallies). The database reads as many rows as there are buckets and scenarios, and the runs
 * of the buckets at both ends of the window; it never reads the log. `RunDurations` has the durations.
 */
export class DashboardRepository extends Context.Service<
  DashboardRepository,
  {
    /** A consistent read of one moment. */
    readonly overview: (window: DashboardWindow, filter: RunFilter) => Effect.Effect<OverviewRows, SqlError>
    readonly agents: Effect.Effect<ReadonlyArray<AgentMetrics>, SqlError>
  }
>()("runplane/control-plane/DashboardRepository") {
  static readonly layer = Layer.effect(
    DashboardRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const durations = yield* RunDurations

      const { atEdges, bucket, bucketOfSums, chosen, inside, isPending, live, pending, within } = dashboardSql(sql)

      /** The columns of the sums for one run, with a sign. */
      const ofRun = (axis: "created" | "ended", window: DashboardWindow, sign: "1" | "-1") => sql`
        ${bucket(axis, window)}, r.source_ref, r.scenario_ref, r.scenario, r.error_code, ${sql.literal(sign)},
        CASE WHEN ${hasStatus(sql, "opening", "r")} THEN ${sql.literal(sign)} ELSE 0 END,
        CASE WHEN r.status = 'running' THEN ${sql.literal(sign)} ELSE 0 END,
        CASE WHEN r.status = 'suspended' THEN ${sql.literal(sign)} ELSE 0 END,
        CASE WHEN r.status = 'completed' THEN ${sql.literal(sign)} ELSE 0 END,
        CASE WHEN r.status = 'failed' THEN ${sql.literal(sign)} ELSE 0 END,
        CASE WHEN r.status = 'cancelled' THEN ${sql.literal(sign)} ELSE 0 END,
        CASE WHEN r.declined THEN ${sql.literal(sign)} ELSE 0 END, ${sql.literal(sign)} * r.tokens, ${sql.literal(sign)} * r.cost,
        ${sql.literal(sign)} * r.guessed,
        ${sql.literal(sign)} * coalesce(r.took, 0), CASE WHEN r.took IS NOT NULL THEN ${sql.literal(sign)} ELSE 0 END`

      /** The sums of the window, minus changed runs, plus the runs that are not in the sums. */
      const parts = (axis: "created" | "ended", window: DashboardWindow, filter: RunFilter) => sql`
        parts (at, source_ref, scenario_ref, scenario, error_code, runs, waiting, running, suspended, completed, failed, cancelled,
               declined, tokens, cost, guessed, took, timed) AS MATERIALIZED (
          SELECT ${bucketOfSums(window)}, r.source_ref, r.scenario_ref, r.scenario, r.error_code, r.runs, 0, 0, 0,
                 r.completed, r.failed, r.cancelled, r.declined, r.tokens, r.cost, r.guessed, r.took, r.timed
          FROM run_tallies r WHERE r.axis = ${axis} AND ${inside(window)} AND ${chosen(filter)}
          UNION ALL
          SELECT ${ofRun(axis, window, "1")}
          FROM tallied_runs r WHERE ${atEdges(axis, window)} AND ${chosen(filter)} AND NOT ${isPending}
          UNION ALL
          SELECT ${ofRun(axis, window, "-1")}
          FROM tallied_runs r
          WHERE ${isPending} AND ${within(axis, window)} AND NOT ${atEdges(axis, window)} AND ${chosen(filter)}
          UNION ALL
          SELECT ${ofRun(axis, window, "1")} FROM ${live} AS r WHERE ${within(axis, window)} AND ${chosen(filter)}
        )`

      const sums = sql`
        sum(runs)::int AS runs, sum(waiting)::int AS waiting, sum(running)::int AS running,
        sum(suspended)::int AS suspended, sum(completed)::int AS completed, sum(failed)::int AS failed,
        sum(cancelled)::int AS cancelled, sum(declined)::int AS declined, sum(tokens)::float8 AS tokens,
        sum(cost)::float8 AS cost, sum(guessed)::float8 AS guessed, sum(took)::float8 / 1000 AS duration, sum(timed)::int AS timed`

      const scenarioSums = sql.literal(SUMMED.map((column) => `sum(${column}) AS ${column}`).join(", "))
      const isListed = sql`(by_runs <= ${LISTED_SCENARIOS} OR by_cost <= ${LISTED_SCENARIOS})`

      const created = (window: DashboardWindow, filter: RunFilter) => sql<RunPart>`
        WITH ${pending}, ${parts("created", window, filter)},
        scenario_sums AS MATERIALIZED (
          SELECT ranked.*, row_number() OVER (ORDER BY runs DESC, label) AS by_runs,
                 row_number() OVER (ORDER BY cost DESC, label) AS by_cost
          FROM (SELECT coalesce(scenario, source_ref, scenario_ref, 'unknown') AS label, ${scenarioSums}
                FROM parts GROUP BY 1 HAVING sum(runs) > 0) AS ranked)
        (SELECT 'created' AS chart, '' AS label, at, ${sums} FROM parts GROUP BY at HAVING sum(runs) > 0 ORDER BY at)
        UNION ALL
        (SELECT 'error', error_code, NULL, ${sums} FROM parts WHERE error_code IS NOT NULL
         GROUP BY error_code HAVING sum(runs) > 0 ORDER BY sum(runs) DESC, error_code LIMIT ${TOP_ERRORS})
        UNION ALL
        (SELECT 'scenario', label, NULL, ${sums} FROM scenario_sums WHERE ${isListed}
         GROUP BY label ORDER BY sum(runs) DESC, label)
        UNION ALL
        (SELECT 'others', count(*)::text, NULL, ${sums} FROM scenario_sums WHERE NOT ${isListed} HAVING count(*) > 0)`

      const throughput = (window: DashboardWindow, filter: RunFilter) => sql<CountAt>`
        WITH ${pending}, ${parts("ended", window, filter)}
        SELECT at, sum(completed)::int AS count FROM parts GROUP BY at HAVING sum(runs) > 0 ORDER BY at`

      const isFiltered = (filter: RunFilter) => filter.scenarioRef !== undefined || filter.environment !== undefined

      const counted = sql`
        count(*) FILTER (WHERE m.type = 'signal.emitted') AS signals,
        count(*) FILTER (WHERE m.type = 'decision.finalized') AS decisions,
        count(*) FILTER (WHERE m.positive) AS positive, count(*) FILTER (WHERE NOT m.positive) AS negative`
      const isKeyEvent = sql`m.type IN ('signal.emitted', 'decision.finalized')`
      /** The key events of the runs of a filter, one by one, through the index of their times. */
      const keyEventsOfRuns = (window: DashboardWindow, filter: RunFilter) => sql`
        SELECT ${bucket("marked", window)} AS at, ${counted}
        FROM key_events m JOIN runs r ON r.id = m.run_id AND ${chosen(filter)}
        WHERE ${isKeyEvent} AND ${within("marked", window)} GROUP BY 1`
      const keyEventsOfAll = (window: DashboardWindow) => sql`
        SELECT ${bucketOfSums(window)} AS at, r.signals, r.decisions, r.positive, r.negative FROM key_event_tallies r WHERE ${inside(window)}
        UNION ALL
        SELECT ${bucket("marked", window)}, ${counted} FROM key_events m
        WHERE m.seq <= (SELECT seq FROM tallied_key_events) AND ${isKeyEvent} AND ${atEdges("marked", window)} GROUP BY 1
        UNION ALL
        SELECT ${bucket("marked", window)}, ${counted} FROM key_events m
        WHERE m.seq > (SELECT seq FROM tallied_key_events) AND ${isKeyEvent} AND ${within("marked", window)} GROUP BY 1
        UNION ALL
        SELECT at, -signals, -decisions, -positive, -negative FROM (
          SELECT ${bucket("marked", window)} AS at, ${counted} FROM removed_key_events m
          WHERE ${within("marked", window)} AND NOT ${atEdges("marked", window)} GROUP BY 1
        ) AS removed`

      const keyEvents = (window: DashboardWindow, filter: RunFilter) => sql<KeyEventsAt>`
        SELECT at, sum(signals)::int AS signals, sum(decisions)::int AS decisions,
               (sum(positive) - sum(negative))::int AS outcome
        FROM (${isFiltered(filter) ? keyEventsOfRuns(window, filter) : keyEventsOfAll(window)}) AS parts
        GROUP BY at ORDER BY at`

      const recent = (filter: RunFilter) =>
        Effect.map(
          sql<RecentRow>`
            SELECT r.id::text AS id, r.status, r.runtime_kind, r.source_kind, r.source_ref, r.scenario_ref, r.environment,
                   r.listed_metadata->'totalTokens' AS total_tokens, r.listed_metadata->'finalAction' AS final_action,
                   r.listed_metadata->'estimatedCostUsd' AS cost, r.listed_metadata->'guessedCostUsd' AS guessed,
                   r.started_at, r.ended_at, r.created_at, ${sql.literal(usageColumn)}
            FROM runs r LEFT JOIN run_metrics m ON m.run_id = r.id WHERE r.archived_at IS NULL AND ${chosen(filter)}
            ORDER BY r.created_at DESC, r.id DESC LIMIT ${RECENT_RUNS}`,
          (rows) => rows.map(toRecentRun)
        )

      const read = Effect.fnUntraced(function* (window: DashboardWindow, filter: RunFilter) {
        const runs = yield* created(window, filter)
        const marked = yield* keyEvents(window, filter)
        const rows: OverviewRows = {
          created: runs.filter(({ chart }) => chart === "created"),
          latencies: yield* durations.latencies(window, filter),
          throughput: yield* throughput(window, filter),
          signals: marked.flatMap(({ at, signals }) => (signals > 0 ? [{ at, count: signals }] : [])),
          decisions: marked.flatMap(({ at, decisions, outcome }) => (decisions > 0 ? [{ at, count: outcome }] : [])),
          errors: runs.flatMap(({ chart, label, runs: count }) => (chart === "error" ? [{ label, count }] : [])),
          scenarios: runs.filter(({ chart }) => chart === "scenario"),
          otherScenarios: runs.find(({ chart }) => chart === "others"),
          recent: yield* recent(filter)
        }
        return rows
      })

      const overview = Effect.fn("DashboardRepository.overview")((window: DashboardWindow, filter: RunFilter) =>
        Effect.provideService(
          sql.withTransaction(read(window, filter)),
          BeginTransaction,
          "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
      )

      return DashboardRepository.of({ overview, agents: agentMetrics(sql) })
    })
  ).pipe(Layer.provide(RunDurations.layer))
}

/** The figures of all participants, from the tallies. */
const agentMetrics = (sql: PgClient.PgClient) =>
  sql<Omit<AgentMetrics, "statedConfidence"> & { readonly stated: number | null }>`
  SELECT participant_id AS "participantId", count(*)::int AS runs, sum(messages)::float8 AS messages,
         sum(signals)::float8 AS signals,
         coalesce(sum(confidence_sum) / nullif(sum(confidence_count), 0), 0) AS "averageConfidence",
         sum(stated_sum) / nullif(sum(stated_count), 0) AS stated
  FROM run_participants GROUP BY participant_id ORDER BY runs DESC, participant_id LIMIT ${MAX_AGENTS}`.pipe(
    Effect.map((rows) =>
      rows.map(
        ({ stated, ...metrics }): AgentMetrics => (stated === null ? metrics : { ...metrics, statedConfidence: stated })
      )
    ),
    Effect.withSpan("DashboardRepository.agents")
  )

interface KeyEventsAt {
  readonly at: Date
  readonly signals: number
  readonly decisions: number
  /** Positive decisions less the negative ones. */
  readonly outcome: number
}

interface RecentRow {
  readonly id: string
  readonly status: RunStatus
  readonly runtime_kind: string
  readonly source_kind: string | null
  readonly source_ref: string | null
  readonly scenario_ref: string | null
  readonly environment: string | null
  /** Metadata of the end of a run; its creator may have set other values. */
  readonly total_tokens: unknown
  readonly cost: unknown
  readonly guessed: unknown
  readonly usage: RunUsage | null
  readonly final_action: unknown
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly created_at: Date
}

const toRecentRun = (row: RecentRow): RecentRun => ({
  id: RunId.make(row.id),
  status: row.status,
  runtimeKind: row.runtime_kind,
  ...(row.source_ref !== null && { sourceRef: row.source_ref }),
  ...((row.source_kind !== null || row.source_ref !== null) && {
    source: {
      ...(row.source_kind !== null && { kind: row.source_kind }),
      ...(row.source_ref !== null && { ref: row.source_ref })
    }
  }),
  metadata: {
    ...(row.environment !== null && { environment: row.environment }),
    ...(row.scenario_ref !== null && { scenarioRef: row.scenario_ref }),
    ...(typeof row.total_tokens === "number" && { totalTokens: row.total_tokens }),
    ...(typeof row.cost === "number" && { estimatedCostUsd: row.cost }),
    ...(typeof row.guessed === "number" && { guessedCostUsd: row.guessed }),
    ...(typeof row.final_action === "string" && { finalAction: row.final_action })
  },
  ...(row.usage !== null && { usage: row.usage }),
  ...(row.started_at !== null && { startedAt: row.started_at.toISOString() }),
  ...(row.ended_at !== null && { endedAt: row.ended_at.toISOString() }),
  createdAt: row.created_at.toISOString()
})
