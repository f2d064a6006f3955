import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** Settings of PostgreSQL by name, for a session. */
export type SessionSettings = Readonly<Record<string, string>>

/**
 * Gives the session its settings, and returns whether its server takes writes. They are no startup parameters, because
 * a pooler refuses or drops those.
 */
export const setUpSession = (connection: PgConnection, settings: SessionSettings): Effect.Effect<boolean, SqlError> => {
  const names = Object.keys(settings)
  const columns = names.map((_, at) => `set_config($${at * 2 + 1}, $${at * 2 + 2}, false)`)
  const statement = `SELECT ${["current_setting('transaction_read_only') = 'off'", ...columns].join(", ")}`
  return Effect.map(
    connection.queryValues(statement, Object.entries(settings).flat(), false),
    ([row]) => row?.[0] === true
  )
}
