import * as PgClient from "@effect/sql-pg/PgClient"
import { MAX_UNKNOWN_MODELS, type UnknownModels } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { MAX_CALLS, newestCalls, windowStart } from "./CallColumns.ts"

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
  }>
}

/** The recorded calls whose model no list prices (docs/reference/prices.md#unknown-models). */
export class UnpricedCalls extends Context.Service<
  UnpricedCalls,
  {
    /** Counts the calls since an ISO time; the last 30 days without one. */
    readonly since: (since: string | undefined) => Effect.Effect<UnknownModels, SqlError | SearchFailure>
  }
>()("runplane/control-plane/UnpricedCalls") {
  static readonly layer = Layer.effect(
    UnpricedCalls,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget

      const keptMs = yield* callsKeptMs

      const count = (since: string) => sql<Row>`
        WITH calls AS MATERIALIZED (${newestCalls(sql, { since, keptMs }, sql`true`)}),
        models AS (
          SELECT model, provider, count(*)::int AS calls, sum(tokens)::float8 AS tokens, sum(cost)::float8 AS cost
          FROM calls WHERE is_guessed GROUP BY model, provider
          ORDER BY sum(cost) DESC, model, provider LIMIT ${MAX_UNKNOWN_MODELS})
        SELECT count(*)::int AS calls, coalesce(sum(cost), 0)::float8 AS cost,
               coalesce(sum(cost) FILTER (WHERE is_guessed), 0)::float8 AS guessed,
               (SELECT coalesce(json_agg(m), '[]') FROM models m) AS models
        FROM calls`

      return UnpricedCalls.of({
        since: Effect.fnUntraced(function* (given) {
          const since = yield* windowStart(given)
          const [row] = yield* budget.inTurn(budget.limited(count(since)))
          const { calls = 0, cost = 0, guessed = 0, models = [] } = row ?? {}
          return {
            since,
            calls: Math.min(calls, MAX_CALLS),
            estimatedCostUsd: cost,
            guessedCostUsd: guessed,
            isPartial: calls > MAX_CALLS,
            models: models.map((each) => ({
              ...(each.model !== null && { model: each.model }),
              ...(each.provider !== null && { provider: each.provider }),
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
