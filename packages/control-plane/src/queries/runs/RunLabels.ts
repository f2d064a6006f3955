import type * as PgClient from "@effect/sql-pg/PgClient"
import type { Fragment } from "effect/sql/Statement"
import type { QueryColumn } from "../../platform/postgres/search/QueryConditions.ts"

/** Characters of a name in `run_labels` (`labels_of` in `migrations/`). */
const MAX_NAME = 200

/** The labels of a run `r` with one of these names: texts, numbers and flags of its metadata. */
export const labelled = (sql: PgClient.PgClient, ...names: ReadonlyArray<string>): QueryColumn => ({
  type: "label",
  where: (test) => sql`
    r.id IN (SELECT l.run_id FROM run_labels l
             WHERE l.name = ANY(${names.map((name) => name.slice(0, MAX_NAME))}::text[]) AND ${test(sql`l.value`)})`
})

/** A label of a run `r` with this name, or a value beside it: `beside` selects the ids of runs whose values pass. */
export const labelledOr = (
  sql: PgClient.PgClient,
  name: string,
  beside: (test: (value: Fragment) => Fragment) => Fragment
): QueryColumn => ({
  type: "label",
  where: (test) => sql`
    r.id IN (SELECT l.run_id FROM run_labels l WHERE l.name = ${name} AND ${test(sql`l.value`)}
             UNION ALL ${beside(test)})`
})
