import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"

/** How often both connections are queried: other clients of a pooler can hide that it shares sessions. */
const ROUNDS = 5

/** A pooler assigns each transaction of a connection to any session. */
export class TransactionPooling extends Data.TaggedError("TransactionPooling") {
  override get message(): string {
    return (
      "a pooler in transaction mode stands before it, but locks and LISTEN need a session for as long as a connection " +
      "lasts: set pool_mode=session for this database, or name the server itself in DATABASE_URL " +
      "(docs/reference/deploy.md#connection-poolers)"
    )
  }
}

/**
 * Fails when a pooler shares sessions between connections: one connection has several sessions, or two open ones have
 * the same. Changes nothing in a session.
 */
export const refuseTransactionPooling = (connect: Effect.Effect<PgConnection, SqlError, Scope.Scope>) =>
  Effect.gen(function* () {
    const one = yield* connect
    const first = yield* sessionOf(one)
    // A pooler reports its own process ids to its clients.
    if (first === one.processId) return
    const other = yield* connect
    const second = yield* sessionOf(other)
    if (first === second) return yield* new TransactionPooling()
    for (let round = 0; round < ROUNDS; round++) {
      if ((yield* sessionOf(one)) !== first || (yield* sessionOf(other)) !== second) {
        return yield* new TransactionPooling()
      }
    }
  }).pipe(Effect.scoped)

/** The process of the server that serves the next statement. */
const sessionOf = (connection: PgConnection) =>
  Effect.map(connection.queryValues("SELECT pg_backend_pid()", [], false), ([row]) => row?.[0])
