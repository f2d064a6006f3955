import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * A value whose content the planner does not look at, for statements on a few keys that run all the time, where
 * planning would cost more than the rows. The database plans a prepared statement anew each time when it believes a
 * plan for this very array to be cheaper than one for any; with it hidden both cost the same, and the one plan is kept.
 *
 * A kept plan may stem from the time when the tables were empty and reading all of them looked cheapest. So what is to
 * be found by a key stands in a LATERAL sub-select with LIMIT 1 or a row lock, which is planned for one key alone; or
 * in the transaction of an append, where no table is read as a whole.
 */
export const unseen = (sql: SqlClient, value: Fragment): Fragment => sql`(SELECT ${value})`

/** Ids as rows of one column; see `unseen`. */
export const idRows = (sql: SqlClient, ids: ReadonlyArray<string>): Fragment =>
  sql`unnest(${unseen(sql, sql`${ids}::text[]::uuid[]`)})`
