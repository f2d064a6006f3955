import * as PgClient from "@effect/sql-pg/PgClient"
import type { AgentMetrics, RecentRun } from "@runplane/api"
import { RunId, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BeginTransaction } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { DashboardWindow } from "./DashboardWindow.ts"

/** Runs and scenarios that an overview lists. */
export const RECENT_RUNS = 10
export const TOP_ERRORS = 10
export const TOP_SCENARIOS = 10
/** Participants in one answer, those of most runs. */
export const MAX_AGENTS = 10_000

export interface RunFilter {
  readonly scenarioRef?: string
  readonly environment?: string
}

/** The runs created within one bucket, as they are now. */
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
  /** Milliseconds of all completed runs that have both times, and how many those are. */
  readonly duration: number
  readonly timed: number
}

/** Milliseconds from start to end of the completed runs that ended within one bucket. */
export interface Latency {
  readonly at: Date
  readonly mean: number
  /** 50th, 95th and 99th percentile, interpolated. */
  readonly percentiles: ReadonlyArray<number>
}

export interface CountAt {
  readonly at: Date
  readonly count: number
}

export interface CountOf {
  readonly label: string
  readonly count: number
}

export interface OverviewRows {
  readonly created: ReadonlyArray<CreatedRuns>
  readonly latencies: ReadonlyArray<Latency>
  readonly throughput: ReadonlyArray<CountAt>
  readonly signals: ReadonlyArray<CountAt>
  readonly decisions: ReadonlyArray<CountAt>
  readonly errors: ReadonlyArray<CountOf>
  readonly scenarios: ReadonlyArray<CountOf>
  readonly recent: ReadonlyArray<RecentRun>
}

/**
 * The figures of an overview (docs/http.md#dashboard-figures), aggregated by the database. What they read is bounded by
 * the window, through the indexes on the times of runs and of `event_marks`; the log itself is never read.
 */
export class DashboardRepository extends Context.Service<
  DashboardRepository,
  {
    /** All of one moment. */
    readonly overview: (window: DashboardWindow, filter: RunFilter) => Effect.Effect<OverviewRows, SqlError>
    readonly agents: Effect.Effect<ReadonlyArray<AgentMetrics>, SqlError>
  }
>()("runplane/control-plane/DashboardRepository") {
  static readonly layer = Layer.effect(
    DashboardRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      /** Of the columns of runs `r`. */
      const chosen = ({ environment, scenarioRef }: RunFilter) =>
        sql.and([
          ...(scenarioRef === undefined
            ? []
            : [sql`(r.source_ref = ${scenarioRef} OR lower(r.scenario_ref) = lower(${scenarioRef}))`]),
          ...(environment === undefined ? [] : [sql`r.environment = ${environment}`])
        ])
      const times = {
        created: sql`r.created_at`,
        ended: sql`r.ended_at`,
        marked: sql`m.ts`
      } as const
      const within = (time: keyof typeof times, { from, to }: DashboardWindow) =>
        sql.and([
          sql`${times[time]} >= ${from}::timestamptz`,
          ...(to === undefined ? [] : [sql`${times[time]} < ${to}::timestamptz`])
        ])
      const bucket = (time: keyof typeof times, window: DashboardWindow) =>
        sql`date_trunc(${window.bucket}::text, ${times[time]}, 'UTC') AS at`
      const took = sql`extract(epoch FROM r.ended_at - r.started_at)::float8 * 1000`

      const created = (window: DashboardWindow, filter: RunFilter) => sql<CreatedRuns>`
        SELECT ${bucket("created", window)}, count(*)::int AS runs,
               count(*) FILTER (WHERE r.status IN ('queued', 'starting', 'binding_session'))::int AS waiting,
               count(*) FILTER (WHERE r.status = 'running')::int AS running,
               count(*) FILTER (WHERE r.status = 'suspended')::int AS suspended,
               count(*) FILTER (WHERE r.status = 'completed')::int AS completed,
               count(*) FILTER (WHERE r.status = 'failed')::int AS failed,
               count(*) FILTER (WHERE r.status = 'cancelled')::int AS cancelled,
               count(*) FILTER (WHERE NOT decision.positive)::int AS declined,
               coalesce(sum(m.total_tokens), 0) AS tokens, coalesce(sum(m.estimated_cost_usd), 0) AS cost,
               coalesce(sum(${took}) FILTER (WHERE r.status = 'completed'), 0) AS duration,
               count(${took}) FILTER (WHERE r.status = 'completed')::int AS timed
        FROM runs r
        LEFT JOIN run_metrics m ON m.run_id = r.id
        LEFT JOIN LATERAL (
          SELECT positive FROM event_marks
          WHERE run_id = r.id AND type = 'decision.finalized' AND r.status = 'completed' AND m.decision_count > 0
          ORDER BY seq DESC LIMIT 1
        ) AS decision ON true
        WHERE ${within("created", window)} AND ${chosen(filter)} GROUP BY 1 ORDER BY 1`

      const latencies = (window: DashboardWindow, filter: RunFilter) => sql<Latency>`
        SELECT ${bucket("ended", window)}, avg(${took}) AS mean,
               percentile_cont(ARRAY[0.5, 0.95, 0.99]::float8[]) WITHIN GROUP (ORDER BY ${took}) AS percentiles
        FROM runs r
        WHERE ${within("created", window)} AND r.status = 'completed' AND r.started_at IS NOT NULL
          AND r.ended_at IS NOT NULL AND ${chosen(filter)}
        GROUP BY 1 ORDER BY 1`

      const throughput = (window: DashboardWindow, filter: RunFilter) => sql<CountAt>`
        SELECT ${bucket("ended", window)}, count(*) FILTER (WHERE r.status = 'completed')::int AS count
        FROM runs r WHERE ${within("ended", window)} AND ${chosen(filter)} GROUP BY 1 ORDER BY 1`

      const isFiltered = (filter: RunFilter) => filter.scenarioRef !== undefined || filter.environment !== undefined
      /** Without a filter the index of the marks has everything. */
      const ofChosenRuns = (filter: RunFilter) =>
        isFiltered(filter) ? sql`JOIN runs r ON r.id = m.run_id AND ${chosen(filter)}` : sql``

      const signals = (window: DashboardWindow, filter: RunFilter) => sql<CountAt>`
        SELECT ${bucket("marked", window)}, count(*)::int AS count
        FROM event_marks m ${ofChosenRuns(filter)}
        WHERE m.type = 'signal.emitted' AND ${within("marked", window)} GROUP BY 1 ORDER BY 1`

      const decisions = (window: DashboardWindow, filter: RunFilter) => sql<CountAt>`
        SELECT ${bucket("marked", window)},
               (count(*) FILTER (WHERE m.positive) - count(*) FILTER (WHERE NOT m.positive))::int AS count
        FROM event_marks m ${ofChosenRuns(filter)}
        WHERE m.type = 'decision.finalized' AND ${within("marked", window)} GROUP BY 1 ORDER BY 1`

      const errors = (window: DashboardWindow, filter: RunFilter) => sql<CountOf>`
        SELECT coalesce(nullif(r.error_code, ''), 'UNKNOWN') AS label, count(*)::int AS count FROM runs r
        WHERE r.status = 'failed' AND ${within("created", window)} AND ${chosen(filter)}
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${TOP_ERRORS}`

      const scenarios = (window: DashboardWindow, filter: RunFilter) => sql<CountOf>`
        SELECT coalesce(r.source_ref, r.scenario_ref, 'unknown') AS label, count(*)::int AS count FROM runs r
        WHERE ${within("created", window)} AND ${chosen(filter)}
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${TOP_SCENARIOS}`

      const recent = (filter: RunFilter) =>
        Effect.map(
          sql<RecentRow>`
            SELECT r.id::text AS id, r.status, r.runtime_kind, r.source_kind, r.source_ref, r.scenario_ref, r.environment,
                   r.started_at, r.ended_at, r.created_at
            FROM runs r WHERE r.archived_at IS NULL AND ${chosen(filter)}
            ORDER BY r.created_at DESC, r.id DESC LIMIT ${RECENT_RUNS}`,
          (rows) => rows.map(toRecentRun)
        )

      const read = (window: DashboardWindow, filter: RunFilter) =>
        Effect.all({
          created: created(window, filter),
          latencies: latencies(window, filter),
          throughput: throughput(window, filter),
          signals: signals(window, filter),
          decisions: decisions(window, filter),
          errors: errors(window, filter),
          scenarios: scenarios(window, filter),
          recent: recent(filter)
        })

      const overview = Effect.fn("DashboardRepository.overview")((window: DashboardWindow, filter: RunFilter) =>
        Effect.provideService(
          sql.withTransaction(read(window, filter)),
          BeginTransaction,
          "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
      )

      const agents = sql<AgentMetrics>`
        SELECT participant_id AS "participantId", count(*)::int AS runs, sum(messages)::float8 AS messages,
               sum(signals)::float8 AS signals,
               coalesce(sum(confidence_sum) / nullif(sum(confidence_count), 0), 0) AS "averageConfidence"
        FROM run_participants GROUP BY participant_id ORDER BY runs DESC, participant_id LIMIT ${MAX_AGENTS}`.pipe(
        Effect.withSpan("DashboardRepository.agents")
      )
      return DashboardRepository.of({ overview, agents })
    })
  )
}

interface RecentRow {
  readonly id: string
  readonly status: RunStatus
  readonly runtime_kind: string
  readonly source_kind: string | null
  readonly source_ref: string | null
  readonly scenario_ref: string | null
  readonly environment: string | null
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
    ...(row.scenario_ref !== null && { scenarioRef: row.scenario_ref })
  },
  ...(row.started_at !== null && { startedAt: row.started_at.toISOString() }),
  ...(row.ended_at !== null && { endedAt: row.ended_at.toISOString() }),
  createdAt: row.created_at.toISOString()
})
