import * as PgClient from "@effect/sql-pg/PgClient"
import { runQueryFields } from "@runplane/api"
import { parseQuery, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"
import { SearchBudget } from "../../platform/postgres/search/SearchBudget.ts"
import { RunMeaning } from "../../queries/runs/RunSearch.ts"

/** The runs that a search finds, archived ones among them, the oldest first. */
export const makeRunSelection = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const budget = yield* SearchBudget
  const meaning = yield* RunMeaning
  return Effect.fnUntraced(function* (q: string, limit: number) {
    // The request was validated, so the query parses.
    const search = yield* Effect.orDie(Effect.fromResult(parseQuery(q, runQueryFields)))
    const rows = yield* budget.inTurn(
      budget.limited(sql<{ readonly id: string }>`
        SELECT r.id::text AS id FROM runs r WHERE ${conditionOf(sql, search, meaning)}
        ORDER BY r.created_at, r.id LIMIT ${BigInt(limit)}`)
    )
    return rows.map(({ id }) => RunId.make(id))
  })
})
