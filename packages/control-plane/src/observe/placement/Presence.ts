import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { PRESENCE_LOCKS } from "../../platform/postgres/AdvisoryLocks.ts"

const LARGEST_NUMBER = 2 ** 31 - 1
/** Timeout for the cleaning of a connection before it returns to the pool. Milliseconds. */
const CLEANING_LIMIT_MS = 1_000

/** This process among those on the database. */
export interface Presence {
  /** The unique number of this process. */
  readonly processNumber: number
  /** The numbers of all live processes, this one included. Read it more often than once a lease. */
  readonly processNumbers: Effect.Effect<ReadonlySet<number>, SqlError>
}

/**
 * Shows that this process is alive, by an advisory lock on a connection of its own: the server releases the lock when
 * the process ends, or when the connection has been idle for the lease.
 */
export const makePresence = Effect.fnUntraced(function* (leaseMs: number) {
  const sql = yield* PgClient.PgClient
  const processNumber = yield* Random.nextIntBetween(1, LARGEST_NUMBER)
  let current: { readonly connection: Connection; readonly scope: Scope.Closeable } | undefined

  const drop = Effect.suspend(() => {
    const lost = current
    current = undefined
    return lost === undefined ? Effect.void : Scope.close(lost.scope, Exit.void)
  })
  yield* Effect.addFinalizer(() => drop)

  /** Servers without the setting keep the connection of a paused process. */
  const endWhenIdle = (connection: Connection, value: "$1" | "reset_val", params: ReadonlyArray<string>) =>
    connection.execute(
      `SELECT set_config(name, ${value}, false) FROM pg_settings WHERE name = 'idle_session_timeout'`,
      params,
      undefined
    )
  const clean = (connection: Connection) =>
    connection
      .execute("SELECT pg_advisory_unlock_all()", [], undefined)
      .pipe(
        Effect.andThen(endWhenIdle(connection, "reset_val", [])),
        Effect.timeout(CLEANING_LIMIT_MS),
        Effect.interruptible,
        Effect.ignore
      )

  const open = Effect.gen(function* () {
    if (current !== undefined) return current.connection
    const scope = yield* Scope.make()
    const connection = yield* Scope.provide(sql.reserve, scope).pipe(
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    current = { connection, scope }
    yield* Scope.addFinalizer(scope, clean(connection))
    yield* endWhenIdle(connection, "$1", [String(leaseMs)])
    yield* connection.execute(
      "SELECT pg_try_advisory_lock($1::int, $2::int)",
      [PRESENCE_LOCKS, processNumber],
      undefined
    )
    return connection
  })

  const processNumbers = Effect.gen(function* () {
    const connection = yield* open
    const rows = yield* connection.execute(
      `SELECT objid::int8::int4 AS process FROM pg_locks
       WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = $1::int8::oid
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [PRESENCE_LOCKS],
      undefined
    )
    return new Set([processNumber, ...rows.map((row) => Number(row.process))])
  }).pipe(
    Effect.tapError(() => drop),
    Effect.withTracerEnabled(false)
  )

  const presence: Presence = { processNumber, processNumbers }
  return presence
})
