import * as PgClient from "@effect/sql-pg/PgClient"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { Acquirer, Borrower, Connection } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
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
 * A PostgreSQL client over a pool, with two properties that the driver's own lacks:
 *
 * - a caller that waits longer than `acquireTimeoutMs` for a connection gets a `SqlError` that says so, whether for a
 *   free connection or for a server that does not answer; an exhausted pool blocks no caller for ever;
 * - a transaction whose connection breaks fails with the `SqlError` of the break. The driver makes it a defect, because
 *   the rollback fails too; but there is nothing left to roll back.
 */
export const makeDatabaseClient = Effect.fnUntraced(function* (options: DatabaseClientOptions) {
  const { acquireTimeoutMs, use = poolCounts(), ...pool } = options
  const base = yield* PgClient.make({ ...pool, keepAlive: Duration.seconds(KEEP_ALIVE_SECONDS) })

  const exhausted = new SqlError({
    reason: new ConnectionError({
      cause: new PoolExhausted({ waitedMs: acquireTimeoutMs, connections: pool.maxConnections }),
      operation: "acquire"
    })
  })
  // The wait itself can be interrupted even where its caller cannot: otherwise the time-out would wait for it. It is
  // one for the network, so it goes by the real clock, also where a test moves another.
  const free: Acquirer = Effect.timeoutOrElse(Effect.interruptible(base.reserve), {
    duration: Duration.millis(acquireTimeoutMs),
    orElse: () => Effect.fail(exhausted)
  }).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))
  const counted = Effect.acquireRelease(
    Effect.sync(() => {
      use.inUse += 1
    }),
    () =>
      Effect.sync(() => {
        use.inUse -= 1
      })
  )
  const acquirer: Acquirer = Effect.suspend(() => {
    use.waiting += 1
    const arrived = Effect.sync(() => {
      use.waiting -= 1
    })
    return Effect.tap(Effect.ensuring(free, arrived), counted)
  })
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

  return Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config: base.config,
    json: base.json,
    listen: base.listen,
    notify: (channel: string, payload: string) => Effect.asVoid(client`SELECT pg_notify(${channel}, ${payload})`),
    withTransaction
  }) satisfies PgClient.PgClient
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
