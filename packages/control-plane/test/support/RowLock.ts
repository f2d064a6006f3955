import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { SqlError } from "effect/sql/SqlError"

/**
 * Another transaction that locks a run's row and does nothing, until the returned effect ends it, after
 * a last statement.
 */
export const lockRun = Effect.fnUntraced(function* (
  runId: RunId,
  last: Effect.Effect<unknown, SqlError> = Effect.void
) {
  const sql = yield* PgClient.PgClient
  const locked = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<void>()
  const holder = yield* Effect.forkChild(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT FROM runs WHERE id = ${runId}::uuid FOR UPDATE`
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(letGo)
        yield* last
      })
    )
  )
  yield* Deferred.await(locked)
  return Effect.andThen(Deferred.succeed(letGo, undefined), Fiber.join(holder))
})
