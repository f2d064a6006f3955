import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/**
 * Runs the effect while this process holds an advisory lock; answers undefined at once when another process holds it.
 * The lock belongs to a connection of its own, so it ends with the process, however that ends.
 */
export const whileAlone = <A, E, R>(
  lock: number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A | undefined, E | SqlError, R | PgClient.PgClient> =>
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const connection = yield* sql.reserve
      const locked = yield* Effect.acquireRelease(
        Effect.map(
          connection.execute("SELECT pg_try_advisory_lock($1::int) AS locked", [lock], undefined),
          (rows) => rows[0]?.locked === true
        ),
        (held) =>
          held
            ? Effect.ignore(connection.execute("SELECT pg_advisory_unlock($1::int)", [lock], undefined))
            : Effect.void
      )
      return locked ? yield* effect : undefined
    })
  )
