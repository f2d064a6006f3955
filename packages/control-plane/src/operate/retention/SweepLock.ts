import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** Any number that no other user of the database locks. */
const RETENTION_LOCK = 7_266_423

/**
 * Runs the effect while this process holds the advisory lock of retention; answers undefined at once when another
 * process holds it. The lock belongs to a connection of its own, so it ends with the process, however that ends.
 */
export const withSweepLock = <A, R>(
  effect: Effect.Effect<A, SqlError, R>
): Effect.Effect<A | undefined, SqlError, R | PgClient.PgClient> =>
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const connection = yield* sql.reserve
      const locked = yield* Effect.acquireRelease(
        Effect.map(
          connection.execute("SELECT pg_try_advisory_lock($1::int) AS locked", [RETENTION_LOCK], undefined),
          (rows) => rows[0]?.locked === true
        ),
        (held) =>
          held
            ? Effect.ignore(connection.execute("SELECT pg_advisory_unlock($1::int)", [RETENTION_LOCK], undefined))
            : Effect.void
      )
      return locked ? yield* effect : undefined
    })
  )
