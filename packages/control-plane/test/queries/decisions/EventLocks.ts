import * as PgClient from "@effect/sql-pg/PgClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** How many readings of events wait for their table; asked anew each time, as a transaction sees one state of it. */
export const readingEvents = (text: string) =>
  PgClient.PgClient.useSync((sql) =>
    Effect.map(
      sql`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, ${text}) > 0`,
      (rows) => rows.length
    )
  )

/** Locks the events until the returned effect runs, which does the last statement and commits. */
export const lockedEvents = Effect.fnUntraced(function* <E = never, R = never>(
  last: Effect.Effect<unknown, E, R> = Effect.void
) {
  const sql = yield* PgClient.PgClient
  const [locked, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const holder = yield* sql`LOCK TABLE canonical_events IN ACCESS EXCLUSIVE MODE`.pipe(
    Effect.andThen(Deferred.succeed(locked, undefined)),
    Effect.andThen(Deferred.await(released)),
    Effect.andThen(last),
    sql.withTransaction,
    Effect.forkChild
  )
  yield* Deferred.await(locked)
  return Effect.andThen(Deferred.succeed(released, undefined), Fiber.join(holder))
})
