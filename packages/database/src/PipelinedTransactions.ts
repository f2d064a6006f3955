// Without this: with 1 ms of network to the database a single append takes 6.1 instead of 3.7 ms, and 16 runs append
// 43 % slower (docs/internals/scale.md); costs this file, and statements that name the transaction they belong to.

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Acquirer, Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

/** DEFERRABLE has no effect on a transaction that writes, so it marks a pipelined one for `isInside`. */
const BEGIN = "BEGIN DEFERRABLE"

/**
 * True inside of a pipelined transaction, and false outside: `Database` sets the default of all transactions to not
 * deferrable. A statement that is sent along with its BEGIN has this condition, so that it changes nothing if that
 * BEGIN fails.
 */
export const isInside = (sql: SqlClient): Fragment => sql`current_setting('transaction_deferrable') = 'on'`

/** A transaction whose statements need not wait for the answers to those before them. */
export interface PipelinedTransaction {
  /**
   * Succeeds once the transaction has begun. A caller waits for it before its first statement that changes rows without
   * the condition `isInside`.
   */
  readonly begun: Effect.Effect<void, SqlError>
  /**
   * Sends a statement, and does not wait for its answer: the next statements and the COMMIT share its exchange. If it
   * fails, the transaction fails with its error, and nothing is stored.
   */
  readonly send: <A>(statement: Effect.Effect<A, SqlError>) => Effect.Effect<Fiber.Fiber<A, SqlError>>
}

export interface PipelinedTransactionsShape {
  /**
   * Runs `use` in a transaction, which the statements of the client belong to. `use` begins when the BEGIN is sent.
   * Transactions cannot be nested in it.
   */
  readonly within: <A, E, R>(
    use: (transaction: PipelinedTransaction) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | SqlError, R>
}

/**
 * Transactions that save exchanges with the database: a statement with the BEGIN, and the last ones with the COMMIT.
 * Each statement is still answered and fails by itself, and PostgreSQL makes a COMMIT behind a failed statement a
 * ROLLBACK.
 */
export class PipelinedTransactions extends Context.Service<PipelinedTransactions, PipelinedTransactionsShape>()(
  "runplane/control-plane/PipelinedTransactions"
) {}

interface PipelinedOptions {
  /** Of a connection with one user, which sends statements in order without waiting for their results. */
  readonly acquirer: Acquirer
  readonly transactionService: SqlClient["transactionService"]
  readonly commit: (connection: Connection) => Effect.Effect<void, SqlError>
}

export const makePipelinedTransactions = ({
  acquirer,
  commit,
  transactionService
}: PipelinedOptions): PipelinedTransactionsShape => ({
  within: (use) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* restore(acquirer)
          const sent: Array<Fiber.Fiber<unknown, SqlError>> = []
          const send: PipelinedTransaction["send"] = (statement) =>
            Effect.map(inOrder(statement), (fiber) => {
              sent.push(fiber)
              return fiber
            })
          const begin = yield* send(connection.execute(BEGIN, [], undefined))
          const used = yield* Effect.exit(
            restore(use({ begun: Effect.asVoid(Fiber.join(begin)), send })).pipe(
              Effect.provideService(transactionService, [connection, 0])
            )
          )
          const ended = yield* Effect.exit(Exit.isSuccess(used) ? commit(connection) : rollback(connection))
          // The first failed statement is the cause of the later failures.
          for (const fiber of sent) yield* Fiber.join(fiber)
          if (Exit.isSuccess(used)) yield* ended
          return yield* used
        })
      ).pipe(Effect.withSpan("sql.transaction"))
    )
})

/** A connection that is broken has nothing to roll back. */
const rollback = (connection: Connection) => connection.execute("ROLLBACK", [], undefined)

/**
 * Statements are sent in the order of these calls. A fiber that starts at once, and does not yield before it has to
 * wait, has handed its statement to the connection when the call is over.
 */
const inOrder = <A>(statement: Effect.Effect<A, SqlError>) =>
  Effect.forkChild(Effect.provideService(statement, References.PreventSchedulerYield, true), {
    startImmediately: true,
    uninterruptible: true
  })
