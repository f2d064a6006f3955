import type * as PgClient from "@effect/sql-pg/PgClient"
import { isoTime } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"

/** Characters of a model's name in an answer. */
export const MAX_MODEL_TEXT = 256

/** The members of a recorded call, for `json_to_record`: a row is parsed once, however long its texts are. */
export const callColumns = `
  model text, provider text, "promptTokens" numeric, "completionTokens" numeric, "totalTokens" numeric,
  "cachedTokens" numeric, "cacheWriteTokens" numeric, "reasoningTokens" numeric, batch boolean,
  "estimatedCostUsd" numeric, "costBasis" text, calls int`

/** Calls that one answer counts, the newest ones. */
export const MAX_CALLS = 200_000

/** When a call counts (docs/reference/alerts.md#late), by the `data` of its event and its arrival `ts`. */
export const countedAtOf = (sql: PgClient.PgClient, data: Fragment, ts: Fragment, keptMs: number) =>
  sql`counted_at(${data}, ${ts}, make_interval(secs => ${keptMs / 1_000}::float8))`

/** The time of the calls of an answer, ISO-8601, and the age up to which a call counts at its own time. */
export interface CallWindow {
  readonly since: string
  readonly until?: string | undefined
  /** Milliseconds. */
  readonly keptMs: number
}

/**
 * The newest calls of a time, one more than an answer counts: model, provider, tokens, cost, and whether the cost is a
 * guess. `where` is a condition on the event `e`. No call counts after its arrival, so the index of arrivals serves.
 */
export const newestCalls = (sql: PgClient.PgClient, { keptMs, since, until }: CallWindow, where: Fragment) => sql`
  SELECT "costBasis" IS NOT DISTINCT FROM 'fallback' AS is_guessed,
         left(call.model, ${MAX_MODEL_TEXT}) AS model, left(call.provider, ${MAX_MODEL_TEXT}) AS provider,
         coalesce("totalTokens", 0) AS tokens, round(coalesce("estimatedCostUsd", 0), 9) AS cost
  FROM (SELECT d.data -> 'decodedPayload' AS payload
        FROM canonical_events e CROSS JOIN LATERAL (SELECT e.event -> 'data' AS data OFFSET 0) AS d
        CROSS JOIN LATERAL (SELECT ${countedAtOf(sql, sql`d.data`, sql`e.ts`, keptMs)} AS at OFFSET 0) AS counted
        WHERE e.type = 'llm.call.completed' AND e.ts >= ${since}::timestamptz AND ${where}
          AND counted.at >= ${since}::timestamptz
          AND ${until === undefined ? sql`true` : sql`counted.at < ${until}::timestamptz`}
        ORDER BY e.seq DESC LIMIT ${MAX_CALLS + 1}) AS newest,
       json_to_record(payload) AS call (${sql.literal(callColumns)})
  WHERE calls IS DISTINCT FROM 0`

const DEFAULT_WINDOW_MS = 30 * 86_400_000

/** The start of a time window, ISO: as given, else 30 days ago. */
export const windowStart = (since: string | undefined) =>
  since === undefined
    ? Effect.map(Clock.currentTimeMillis, (now) => isoTime(now - DEFAULT_WINDOW_MS))
    : Effect.succeed(since)
