import * as PgClient from "@effect/sql-pg/PgClient"
import type { recordedCallsQuery } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { callColumns, countedAtOf, MAX_MODEL_TEXT, windowStart } from "./CallColumns.ts"

type Query = Omit<typeof recordedCallsQuery.Type, "since"> & { readonly since?: string }

interface Row {
  /** Rows of the page, in the window or not. */
  readonly read: number
  readonly oldest: string | null
  /** Whether a row of the page is in the window. */
  readonly is_in_window: boolean | null
  readonly calls: number
  /** JSON: the database writes it as the contract has it, so it is neither read nor written again. */
  readonly groups: string
}

/**
 * The recorded calls of language models, in pages (docs/reference/prices.md#what-if). A page reads at most `limit`
 * calls by their index, whatever the time window. The first page without a call of the window is the last.
 */
export class RecordedCalls extends Context.Service<
  RecordedCalls,
  {
    /** A page as JSON text. */
    readonly page: (query: Query) => Effect.Effect<string, SqlError | SearchFailure>
  }
>()("runplane/control-plane/RecordedCalls") {
  static readonly layer = Layer.effect(
    RecordedCalls,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget

      const keptMs = yield* callsKeptMs

      const read = ({ before, limit }: Query, since: string) => sql<Row>`
        WITH page AS MATERIALIZED (
          SELECT seq, ts, event -> 'data' AS data FROM canonical_events
          WHERE type = 'llm.call.completed' AND ${before === undefined ? sql`true` : sql`seq < ${BigInt(before)}`}
          ORDER BY seq DESC LIMIT ${limit}),
        calls AS (
          SELECT to_char(date_trunc('minute', counted.at, 'UTC') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.000"Z"') AS at,
                 left(call.model, ${MAX_MODEL_TEXT}) AS model, left(call.provider, ${MAX_MODEL_TEXT}) AS provider,
                 coalesce("promptTokens", 0) AS "promptTokens",
                 coalesce("totalTokens", "promptTokens" + "completionTokens", 0) AS "totalTokens",
                 "cachedTokens", "cacheWriteTokens", "reasoningTokens", batch, "estimatedCostUsd", "costBasis",
                 coalesce(calls, 1) AS calls
          FROM page
          CROSS JOIN LATERAL (SELECT ${countedAtOf(sql, sql`page.data`, sql`page.ts`, keptMs)} AS at OFFSET 0) AS counted,
               json_to_record(page.data -> 'decodedPayload') AS call (${sql.literal(callColumns)})
          WHERE counted.at >= ${since}::timestamptz),
        groups AS (
          SELECT at, model, provider, "promptTokens", "totalTokens", "cachedTokens", "cacheWriteTokens",
                 "reasoningTokens", batch, "estimatedCostUsd", "costBasis", sum(calls) AS calls
          FROM calls GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ORDER BY 1 DESC, 2, 3)
        SELECT count(*)::int AS read, min(seq)::text AS oldest, bool_or(ts >= ${since}::timestamptz) AS is_in_window,
               (SELECT coalesce(sum(calls), 0)::int FROM groups) AS calls,
               (SELECT coalesce(json_agg(json_strip_nulls(row_to_json(g))), '[]')::text FROM groups g) AS groups
        FROM page`

      return RecordedCalls.of({
        page: Effect.fnUntraced(function* (query) {
          const since = yield* windowStart(query.since)
          const [row] = yield* budget.inTurn(budget.limited(read(query, since)))
          const { calls = 0, groups = "[]", is_in_window = false, oldest = null, read: rows = 0 } = row ?? {}
          const isLast = rows < query.limit || is_in_window !== true || oldest === null
          return `{"since":"${since}","calls":${calls},"groups":${groups}${isLast ? "" : `,"next":${oldest}`}}`
        })
      })
    })
  )
}
