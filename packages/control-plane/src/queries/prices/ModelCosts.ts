import * as PgClient from "@effect/sql-pg/PgClient"
import { type CostsByModel, MAX_UNKNOWN_MODELS, type modelCostsQuery } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { runsFound } from "../runs/RunSearch.ts"
import { MAX_CALLS, newestCalls, windowStart } from "./CallColumns.ts"

type Query = typeof modelCostsQuery.Type

interface Row {
  readonly calls: number
  readonly models: ReadonlyArray<{
    readonly model: string | null
    readonly provider: string | null
    readonly calls: number
    readonly tokens: number
    readonly cost: number
    readonly guessed: number
  }>
}

/** The recorded cost by model, over runs (docs/reference/prices.md#cost-by-model). */
export class ModelCosts extends Context.Service<
  ModelCosts,
  {
    /** Of the calls of the window, in the runs that the search finds. */
    readonly find: (query: Query) => Effect.Effect<CostsByModel, SqlError | SearchFailure>
  }
>()("runplane/control-plane/ModelCosts") {
  static readonly layer = Layer.effect(
    ModelCosts,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget

      const keptMs = yield* callsKeptMs

      const count = ({ q, until }: Query, since: string) => {
        return sql<Row>`
          WITH calls AS MATERIALIZED (${newestCalls(sql, { since, until, keptMs }, runsFound(sql, q, sql`e.run_id`))}),
          models AS (
            SELECT model, provider, count(*)::int AS calls, sum(tokens)::float8 AS tokens, sum(cost)::float8 AS cost,
                   coalesce(sum(cost) FILTER (WHERE is_guessed), 0)::float8 AS guessed
            FROM calls GROUP BY model, provider ORDER BY sum(cost) DESC, model, provider LIMIT ${MAX_UNKNOWN_MODELS})
          SELECT (SELECT count(*)::int FROM calls) AS calls, (SELECT coalesce(json_agg(m), '[]') FROM models m) AS models`
      }

      return ModelCosts.of({
        find: Effect.fnUntraced(function* (query) {
          const since = yield* windowStart(query.since)
          const [row] = yield* budget.inTurn(budget.limited(count(query, since)))
          const { calls = 0, models = [] } = row ?? {}
          return {
            since,
            isPartial: calls > MAX_CALLS,
            models: models.map(({ cost, guessed, model, provider, tokens, ...each }) => ({
              ...(model !== null && { model }),
              ...(provider !== null && { provider }),
              calls: each.calls,
              totalTokens: tokens,
              estimatedCostUsd: cost,
              guessedCostUsd: guessed
            }))
          }
        })
      })
    })
  )
}
