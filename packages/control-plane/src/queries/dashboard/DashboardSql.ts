import type * as PgClient from "@effect/sql-pg/PgClient"
import type { DashboardWindow } from "./DashboardWindow.ts"

export interface RunFilter {
  readonly scenarioRef?: string
  readonly environment?: string
}

type Axis = "created" | "ended" | "marked"

/**
 * What the queries of an overview have in common: conditions on runs, marks and sums
 * (docs/reference/events.md#tallies).
 */
export const dashboardSql = (sql: PgClient.PgClient) => {
  /** Of the columns of `r`. */
  const chosen = ({ environment, scenarioRef }: RunFilter) =>
    sql.and([
      ...(scenarioRef === undefined
        ? []
        : [sql`(r.source_ref = ${scenarioRef} OR fold_text(r.scenario_ref) = fold_text(${scenarioRef}::text))`]),
      ...(environment === undefined ? [] : [sql`r.environment = ${environment}`])
    ])
  const times = { created: sql`r.created_at`, ended: sql`r.ended_at`, marked: sql`m.ts` }
  const between = (axis: Axis, from: string, to: string | undefined) =>
    sql.and([
      sql`${times[axis]} >= ${from}::timestamptz`,
      ...(to === undefined ? [] : [sql`${times[axis]} < ${to}::timestamptz`])
    ])
  const within = (axis: Axis, { from, to }: DashboardWindow) => between(axis, from, to)
  /** The parts of the window that are in no whole bucket. */
  const atEdges = (axis: Axis, { parts: { edges } }: DashboardWindow) =>
    edges.length === 0 ? sql`false` : sql.or(edges.map(({ from, to }) => between(axis, from, to)))
  const bucket = (axis: Axis, window: DashboardWindow) => sql`date_trunc(${window.bucket}::text, ${times[axis]}, 'UTC')`
  /** The buckets of a table of sums `r` that make up the window, but for its edges. */
  const inside = ({ parts: { whole } }: DashboardWindow) =>
    whole.length === 0
      ? sql`false`
      : sql.or(
          whole.map(({ from, to, unit }) =>
            sql.and([
              sql`r.unit = ${unit}`,
              sql`r.at >= ${from}::timestamptz`,
              ...(to === undefined ? [] : [sql`r.at < ${to}::timestamptz`])
            ])
          )
        )
  const bucketOfSums = (window: DashboardWindow) => sql`date_trunc(${window.bucket}::text, r.at, 'UTC')`

  /** Runs that have changed since they were added up: what the sums say of them does not count. */
  const pending = sql`pending AS MATERIALIZED (SELECT DISTINCT run_id FROM tally_changes)`
  const isPending = sql`r.run_id IN (SELECT run_id FROM pending)`
  /** The runs that are not in the sums as they are now. */
  const live = sql`
    (SELECT c.* FROM pending JOIN run_contributions c USING (run_id) WHERE c.status IN ('completed', 'failed', 'cancelled')
     UNION ALL SELECT * FROM run_contributions WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended'))`

  return { chosen, within, atEdges, bucket, bucketOfSums, inside, pending, isPending, live } as const
}
