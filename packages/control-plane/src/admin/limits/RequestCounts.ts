import * as PgClient from "@effect/sql-pg/PgClient"
import { describeSqlError } from "@runplane/database"
import { type AccountState, BudgetExchange, ControlPlaneSettings, readSetting, type Spent } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/** Exchanges between two removals of rows that count nothing any more. */
const EXCHANGES_PER_SWEEP = 60

interface AccountRow {
  readonly client: string
  readonly spent: number
  readonly window_ms: number
  readonly blocked_ms: number
}

/**
 * Adds what one process has counted to the counts of all processes on the database, and returns the sums: one
 * statement for any number of clients (docs/reference/http.md#rate-limit). Times are sent as remaining durations, so
 * the clocks of the processes do not matter; rows are written in the order of their names, so two processes do not
 * deadlock. The table is not logged: after a crash of the database every count starts at 0.
 */
export const makeRequestCounts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  let exchanges = 0

  return Effect.fn("RequestCounts.exchange")(function* (spent: ReadonlyArray<Spent>) {
    if (exchanges++ % EXCHANGES_PER_SWEEP === 0) {
      yield* sql`DELETE FROM request_budgets WHERE greatest(window_ends, blocked_until) <= statement_timestamp()`
    }
    const ordered = spent
      .toSorted((a, b) => (a.client < b.client ? -1 : 1))
      .map(({ blockedMs, windowMs, ...each }) => ({ ...each, window_ms: windowMs, blocked_ms: blockedMs }))
    const rows = yield* sql<AccountRow>`
      INSERT INTO request_budgets AS stored (client, spent, window_ends, blocked_until)
      SELECT given.client, given.spent, statement_timestamp() + given.window_ms * interval '1 millisecond',
             statement_timestamp() + given.blocked_ms * interval '1 millisecond'
      FROM ${unnestRows(sql, ordered, { client: "text", spent: "int", window_ms: "int", blocked_ms: "int" })} AS given
      ON CONFLICT (client) DO UPDATE SET
        spent = EXCLUDED.spent + CASE
          WHEN greatest(stored.window_ends, stored.blocked_until) > statement_timestamp() THEN stored.spent ELSE 0 END,
        window_ends = CASE
          WHEN greatest(stored.window_ends, stored.blocked_until) > statement_timestamp() THEN stored.window_ends
          ELSE EXCLUDED.window_ends END,
        blocked_until = greatest(stored.blocked_until, EXCLUDED.blocked_until)
      RETURNING client, spent::float8 AS spent,
                (1000 * extract(epoch FROM window_ends - statement_timestamp()))::float8 AS window_ms,
                (1000 * extract(epoch FROM blocked_until - statement_timestamp()))::float8 AS blocked_ms`
    return rows.map(
      (row): AccountState => ({
        client: row.client,
        spent: row.spent,
        windowMs: Math.max(0, Math.ceil(row.window_ms)),
        blockedMs: Math.max(0, Math.ceil(row.blocked_ms))
      })
    )
  }, Effect.mapError(describeSqlError))
})

/** What the rate limit counts with: this process alone, or with `THROTTLE_STORE=postgres` all on the database. */
export const layerRequestCounts = Layer.effect(
  BudgetExchange,
  Effect.gen(function* () {
    const store = yield* readSetting(ControlPlaneSettings.THROTTLE_STORE)
    return store === "postgres" ? yield* makeRequestCounts : undefined
  })
)
