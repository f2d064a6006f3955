import type * as PgClient from "@effect/sql-pg/PgClient"
import { runQueryFields } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import * as Result from "effect/Result"
import type { Fragment } from "effect/sql/Statement"
import { runMeaning } from "../../event-log/runs/RunSearch.ts"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"

/** The condition that a search over runs finds the run of this id; the search was validated, so it parses. */
export const runsFound = (sql: PgClient.PgClient, q: string | undefined, id: Fragment): Fragment =>
  q === undefined
    ? sql`true`
    : sql`${id} IN (SELECT r.id FROM runs r
           WHERE ${conditionOf(sql, Result.getOrThrow(parseQuery(q, runQueryFields)), runMeaning(sql))})`
