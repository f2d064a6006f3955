/**
 * Without this: the database plans each read by id again, so the row of a run takes 0.63 ms instead of 0.40, and eight
 * rows 0.88 instead of 0.59 (docs/internals/scale.md); costs the rules below for statements.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * Hides a value from the planner, in frequent statements on a few keys. The database plans a prepared statement again
 * for each array that it sees, when that plan looks cheaper than one for any array. For a hidden array both cost the
 * same, so it keeps one plan.
 *
 * A plan may have been made while the tables were empty and a sequential scan looked cheapest. So a statement finds its
 * rows in a LATERAL sub-select with LIMIT 1 or a row lock, which is planned for one key; or in the transaction of an
 * append, which has no sequential scans.
 */
export const unseen = (sql: SqlClient, value: Fragment): Fragment => sql`(SELECT ${value})`

/** Ids as rows of one column; see `unseen`. */
export const idRows = (sql: SqlClient, ids: ReadonlyArray<string>): Fragment =>
  sql`unnest(${unseen(sql, sql`${ids}::text[]::uuid[]`)})`
