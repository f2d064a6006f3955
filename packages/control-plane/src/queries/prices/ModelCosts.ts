import * as PgClient from "@effect/sql-pg/PgClient"
import { type CostsByModel, MAX_UNKNOWN_MODELS, type modelCostsQuery, type UnknownModels } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { RunMeaning, runsFound } from "../runs/RunSearch.ts"
import { type CallWindow, MAX_CALLS, newestCalls, windowStart } from "./CallColumns.ts"

type Query = typeof modelCostsQuery.Type

/** The sums of the counted calls, and of their models with the highest costs. */
interface Row {
  readonly calls: number
  readonly cost: number
  readonly guessed: number
  readonly models: ReadonlyArray<{
    readonly model: string | null
    readonly provider: string | null
    readonly calls: number
    readonly tokens: number
    readonly cost: number
    readonly guessed: number
  }>
}

const NOTHING: Row = { calls: 0, cost: 0, guessed: 0, models: [] }

/** The recorded cost of calls, by model. */
export class ModelCosts extends Context.Service<
  ModelCosts,
  {
    /** Of the calls of a window, in the runs that the search finds (docs/reference/prices.md#cost-by-model). */
    readonly find: (query: Query) => Effect.Effect<CostsByModel, SqlError | SearchFailure>
    /**
     * Of the calls whose model no list prices (docs/reference/prices.md#unknown-models), since an ISO time; of the last
     * 30 days without one.
     */
    readonly unpriced: (since: string | undefined) => Effect.Effect<UnknownModels, SqlError | SearchFailure>
  }
>()("runplane/control-plane/ModelCosts") {
  static readonly layer = Layer.effect(
    ModelCosts,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const meaning = yield* RunMeaning
      const keptMs = yield* callsKeptMs

      /** Counts the calls of events that match; `listed` selects the calls of the models. */
      const count = Effect.fnUntraced(function* (
        window: Omit<CallWindow, "keptMs">,
        matches: Fragment,
        listed: Fragment
      ) {
        const read = sql<Row>`
          WITH calls AS MATERIALIZED (${newestCalls(sql, { ...window, keptMs }, matches)}),
          models AS (
            SELECT model, provider, count(*)::int AS calls, sum(tokens)::float8 AS tokens, sum(cost)::float8 AS cost,
                   coalesce(sum(cost) FILTER (WHERE is_guessed), 0)::float8 AS guessed
            FROM calls WHERE ${listed} GROUP BY model, provider
            ORDER BY sum(cost) DESC, model, provider LIMIT ${MAX_UNKNOWN_MODELS})
          SELECT count(*)::int AS calls, coalesce(sum(cost), 0)::float8 AS cost,
                 coalesce(sum(cost) FILTER (WHERE is_guessed), 0)::float8 AS guessed,
                 (SELECT coalesce(json_agg(m), '[]') FROM models m) AS models
          FROM calls`
        const [row] = yield* budget.inTurn(budget.limited(read))
        return row ?? NOTHING
      })

      return ModelCosts.of({
        find: Effect.fnUntraced(function* ({ q, until, ...query }) {
          const since = yield* windowStart(query.since)
          const { calls, models } = yield* count({ since, until }, runsFound(sql, meaning, q, sql`e.run_id`), sql`true`)
          return {
            since,
            isPartial: calls > MAX_CALLS,
            models: models.map((each) => ({
              ...named(each),
              calls: each.calls,
              totalTokens: each.tokens,
              estimatedCostUsd: each.cost,
              guessedCostUsd: each.guessed
            }))
          }
        }),
        unpriced: Effect.fnUntraced(function* (given) {
          const since = yield* windowStart(given)
          const { calls, cost, guessed, models } = yield* count({ since }, sql`true`, sql`is_guessed`)
          return {
            since,
            calls: Math.min(calls, MAX_CALLS),
            estimatedCostUsd: cost,
            guessedCostUsd: guessed,
            isPartial: calls > MAX_CALLS,
            models: models.map((each) => ({
              ...named(each),
              calls: each.calls,
              totalTokens: each.tokens,
              guessedCostUsd: each.cost,
              share: cost === 0 ? 0 : each.cost / cost
            }))
          }
        })
      })
    })
  )
}

const named = ({ model, provider }: Row["models"][number]) => ({
  ...(model !== null && { model }),
  ...(provider !== null && { provider })
})
