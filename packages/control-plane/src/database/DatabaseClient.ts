import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgPool from "@effect/sql-pg/PgPool"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { Acquirer, Borrower, Connection } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { makePipelinedTransactions } from "./PipelinedTransactions.ts"
import { pooledConnection } from "./PooledConnection.ts"
import { type PoolCounts, poolCounts } from "./PoolUse.ts"
import { PoolExhausted, TransactionAborted } from "./SqlFailures.ts"

/**
 * An idle connection is probed after this time, so that one whose server has vanished does not wait for ever. Seconds.
 */
const KEEP_ALIVE_SECONDS = 30

export interface DatabaseClientOptions extends Omit<PgClient.PgPoolConfig, "keepAlive"> {
  readonly maxConnections: number
  /** How long a statement or transaction may wait for a free connection. Milliseconds. */
  readonly acquireTimeoutMs: number
  /** Is kept true for the metrics. */
  readonly use?: PoolCounts
}

/**
 * A PostgreSQL client over a pool, and the pipelined transactions on the same pool. The client has two properties that
 * the driver's own lacks:
 *
 * - a caller that waits longer than `acquireTimeoutMs` for a connection gets a `SqlError` that says so, whether for a
 *   free connection or for a server that does not answer; an exhausted pool blocks no caller for ever;
 * - a transaction whose connection breaks fails with the `SqlError` of the break. The driver makes it a defect, because
 *   the rollback fails too; but there is nothing left to roll back.
 */
export const makeDatabaseClient = Effect.fnUntraced(function* (options: DatabaseClientOptions) {
  const { acquireTimeoutMs, use = poolCounts(), ...config } = options
  // A connection has one user at a time. Who reserves it waits for each answer; a pipelined transaction does not.
  const pool = yield* PgPool.make({
    ...config,
    keepAlive: Duration.seconds(KEEP_ALIVE_SECONDS),
    multiplex: true,
    multiplexConcurrency: 1
  })

  const exhausted = new SqlError({
    reason: new ConnectionError({
      cause: new PoolExhausted({ waitedMs: acquireTimeoutMs, connections: config.maxConnections }),
      operation: "acquire"
    })
  })
  const counted = Effect.acquireRelease(
    Effect.sync(() => {
      use.inUse += 1
    }),
    () =>
      Effect.sync(() => {
        use.inUse -= 1
      })
  )
  const acquire = (session: typeof pool.get): Acquirer => {
    // The wait itself can be interrupted even where its caller cannot: otherwise the time-out would wait for it. It is
    // one for the network, so it goes by the real clock, also where a test moves another.
    const free = Effect.timeoutOrElse(Effect.interruptible(session), {
      duration: Duration.millis(acquireTimeoutMs),
      orElse: () => Effect.fail(exhausted)
    }).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))
    return Effect.suspend(() => {
      use.waiting += 1
      const arrived = Effect.sync(() => {
        use.waiting -= 1
      })
      return Effect.map(Effect.tap(Effect.ensuring(free, arrived), counted), pooledConnection)
    })
  }
  const acquirer = acquire(pool.reserve)
  const borrower: Borrower = (use) => Effect.scoped(Effect.flatMap(acquirer, use))

  const client = yield* SqlClient.make({
    acquirer,
    borrower,
    transactionAcquirer: acquirer,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    prepareTransactionControls: true,
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  const { withTransaction: transact } = client
  const withTransaction: typeof transact = (effect) =>
    Effect.catchCause(transact(effect), (cause) => Effect.failCause(withBrokenConnectionAsFailure(cause)))

  const pipelined = makePipelinedTransactions({
    acquirer: acquire(pool.get),
    transactionService: client.transactionService,
    commit
  })
  const pgClient: PgClient.PgClient = Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config,
    json: (value: unknown) => client`${PgTypes.jsonb(value)}`,
    listen: (channel: string) => Effect.flatMap(pool.reserve, (session) => session.listen(channel)),
    notify: (channel: string, payload: string) => Effect.asVoid(client`SELECT pg_notify(${channel}, ${payload})`),
    withTransaction
  })
  return { client: pgClient, pipelined }
})

/** PostgreSQL answers the COMMIT of an aborted transaction with ROLLBACK: nothing is stored, so it is a failure. */
const commit = (connection: Connection): Effect.Effect<void, SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    commandOf(result) === "ROLLBACK" ? Effect.fail(new TransactionAborted().asSqlError) : Effect.void
  )

const commandOf = (result: unknown): unknown =>
  typeof result === "object" && result !== null && "command" in result ? result.command : undefined

/** Only a rollback, or the release of a savepoint, dies of a `SqlError` in here. */
const withBrokenConnectionAsFailure = <E>(cause: Cause.Cause<E>): Cause.Cause<E | SqlError> =>
  Cause.fromReasons<E | SqlError>(
    cause.reasons.map((reason) =>
      Cause.isDieReason(reason) && reason.defect instanceof SqlError ? Cause.makeFailReason(reason.defect) : reason
    )
  )
