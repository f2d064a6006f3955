import type * as PgClient from "@effect/sql-pg/PgClient"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { scenarioFilter } from "../runs/RunSearch.ts"
import type { DashboardWindow } from "./WindowParts.ts"

export interface RunFilter {
  readonly scenarioRef?: string
  readonly environment?: string
}

type Axis = "created" | "ended" | "marked"

/** Common conditions of the overview on runs, marks and sums (docs/reference/events.md#tallies). */
export const dashboardSql = (sql: PgClient.PgClient) => {
  /** The filter, for a row `r`. */
  const chosen = ({ environment, scenarioRef }: RunFilter) =>
    sql.and([
      ...(scenarioRef === undefined ? [] : [scenarioFilter(sql, scenarioRef, "dashboard")]),
      ...(environment === undefined ? [] : [sql`r.environment = ${environment}`])
    ])
  const times = { created: sql`r.created_at`, ended: sql`r.ended_at`, marked: sql`m.ts` }
  const between = (axis: Axis, from: string, to: string | undefined) =>
    sql.and([
      sql`${times[axis]} >= ${from}::timestamptz`,
      ...(to === undefined ? [] : [sql`${times[axis]} < ${to}::timestamptz`])
    ])
  const within = (axis: Axis, { from, to }: DashboardWindow) => between(axis, from, to)
  /** The parts of the window outside of whole buckets. */
  const atEdges = (axis: Axis, { parts: { edges } }: DashboardWindow) =>
    edges.length === 0 ? sql`false` : sql.or(edges.map(({ from, to }) => between(axis, from, to)))
  const bucket = (axis: Axis, window: DashboardWindow) => sql`date_trunc(${window.bucket}::text, ${times[axis]}, 'UTC')`
  /** The rows `r` of a table of sums within the window. */
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

  /** Runs that have changed since they were added to the sums. */
  const pending = sql`pending AS MATERIALIZED (SELECT DISTINCT run_id FROM tally_changes)`
  const isPending = sql`r.run_id IN (SELECT run_id FROM pending)`
  /** The current values of the runs that are not in the sums. */
  const live = sql`
    (SELECT c.* FROM pending JOIN run_contributions c USING (run_id) WHERE ${hasStatus(sql, "ended", "c")}
     UNION ALL SELECT * FROM run_contributions WHERE ${hasStatus(sql, "unfinished")})`

  return { chosen, within, atEdges, bucket, bucketOfSums, inside, pending, isPending, live } as const
}
