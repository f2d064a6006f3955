import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { type DatabaseHost, makeFairTurns } from "@runplane/server"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Acquirer, Borrower, Connection } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { makePipelinedTransactions } from "./PipelinedTransactions.ts"
import { pooledConnection } from "./PooledConnection.ts"
import { type PoolCounts, poolCounts } from "./PoolUse.ts"
import { makeServerPool, type ServerPoolOptions } from "./ServerPool.ts"
import { makeServers } from "./Servers.ts"
import {
  describeSqlError,
  isReadOnlyServer,
  isTooManyConnections,
  PoolExhausted,
  ReadOnlyServer,
  TransactionAborted
} from "./SqlFailures.ts"

/** How long the pool does not grow after the server has refused a connection. Milliseconds. */
const FULL_MS = 5_000
/** Before a caller whose new connection was refused waits for another one. Milliseconds. */
const FULL_PAUSE_MS = 20

export interface DatabaseClientOptions extends ServerPoolOptions {
  /** The URL with the settings of the client. */
  readonly url: Redacted.Redacted
  /** At least one, in the order in which they are tried. */
  readonly hosts: ReadonlyArray<DatabaseHost>
  readonly maxConnections: number
  /** How long a statement or transaction may wait for a free connection. Milliseconds. */
  readonly acquireTimeoutMs: number
  /** Is updated for the metrics. */
  readonly use?: PoolCounts
}

/**
 * A PostgreSQL client over a pool, and the pipelined transactions on the same pool. The client has properties that the
 * driver's own lacks:
 *
 * - a caller that waits longer than `acquireTimeoutMs` for a connection gets a `SqlError` that says so, whether for a
 *   free connection or for a server that does not answer; an exhausted pool blocks no caller for ever;
 * - a free connection goes to the callers in turns (docs/reference/http.md#turns);
 * - a pool whose server refuses one more connection (53300) is full: the caller waits for a free one;
 * - a statement that a server refuses because it takes no writes (25006) makes the pool search for one that does;
 * - a transaction whose connection breaks fails with the `SqlError` of the break. The driver makes it a defect, because
 *   the rollback fails too; but there is nothing left to roll back.
 */
export const makeDatabaseClient = Effect.fnUntraced(function* (options: DatabaseClientOptions) {
  const { acquireTimeoutMs, hosts, url, use = poolCounts(), ...config } = options
  const [first, ...others] = hosts
  if (first === undefined) return yield* Effect.die(new Error("a database without a host"))
  const servers = yield* makeServers([
    yield* makeServerPool(first, config),
    ...(yield* Effect.forEach(others, (host) => makeServerPool(host, config)))
  ])
  const scope = yield* Effect.scope
  /** One permit for each connection that the pool may have now. */
  const slots = yield* Semaphore.make(config.maxConnections)
  /** Callers take turns, so that the many statements of one delay those of another by one. */
  const turns = makeFairTurns("connections", config.maxConnections)
  /** Why the server opens no more connections; undefined while it does. */
  let refusal: string | undefined

  const exhausted = Effect.suspend(() =>
    Effect.fail(
      new SqlError({
        reason: new ConnectionError({
          cause: new PoolExhausted({ waitedMs: acquireTimeoutMs, connections: config.maxConnections, refusal }),
          operation: "acquire"
        })
      })
    )
  )
  const counted = Effect.acquireRelease(
    Effect.sync(() => {
      use.inUse += 1
    }),
    () =>
      Effect.sync(() => {
        use.inUse -= 1
      })
  )

  /**
   * Makes new callers wait for the open connections, for a while. Each refusal removes one slot, so the slots come down
   * to the connections that the server opens.
   */
  const stopGrowing = Effect.fnUntraced(function* (error: SqlError) {
    yield* slots.resize(Math.max(1, use.inUse - 1))
    if (refusal !== undefined) return
    refusal = describeSqlError(error)
    yield* Effect.logWarning(`the database opens no more connections, so the pool does not grow: ${refusal}`)
    const grow = Effect.suspend(() => {
      refusal = undefined
      return slots.resize(config.maxConnections)
    })
    yield* Effect.forkIn(Effect.delay(grow, FULL_MS), scope)
  })
  /** Holds a slot of the pool with the connection, and releases it when there is no connection. */
  const inSlot = (session: typeof servers.get): typeof servers.get =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const ours = yield* Scope.fork(yield* Effect.scope)
        const acquired = restore(Effect.andThen(turns.scoped, slots.takeScoped(1))).pipe(
          Effect.andThen(counted),
          Effect.andThen(restore(session))
        )
        return yield* acquired.pipe(
          Effect.tapError((error) => (isTooManyConnections(error) ? stopGrowing(error) : Effect.void)),
          Scope.provide(ours),
          Effect.onError(() => Scope.close(ours, Exit.void))
        )
      })
    )
  const whenFull = (session: typeof servers.get): typeof servers.get =>
    Effect.catchIf(inSlot(session), isTooManyConnections, () =>
      Effect.delay(
        Effect.suspend(() => whenFull(session)),
        FULL_PAUSE_MS
      )
    )

  const acquire = (session: typeof servers.get): Acquirer => {
    // The wait itself can be interrupted even where its caller cannot: otherwise the time-out would wait for it. It is
    // one for the network, so it goes by the real clock, also where a test moves another.
    const free = Effect.timeoutOrElse(Effect.interruptible(whenFull(session)), {
      duration: Duration.millis(acquireTimeoutMs),
      orElse: () => exhausted
    }).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))
    return Effect.suspend(() => {
      use.waiting += 1
      const arrived = Effect.sync(() => {
        use.waiting -= 1
      })
      return Effect.map(Effect.ensuring(free, arrived), (connection) => pooledConnection(connection, noticed))
    })
  }
  const noticed = (error: SqlError) => (isReadOnlyServer(error) ? servers.seenReadOnly : Effect.void)
  const reserve = Effect.flatMap(servers.get, (connection) => connection.pin)
  const acquirer = acquire(reserve)
  const listener = inSlot(reserve)
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
    acquirer: acquire(servers.get),
    transactionService: client.transactionService,
    commit
  })
  const pgClient: PgClient.PgClient = Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config: { url },
    json: (value: unknown) => client`${PgTypes.jsonb(value)}`,
    listen: (channel: string) => Effect.flatMap(listener, (session) => session.listen(channel)),
    notify: (channel: string, payload: string) => Effect.asVoid(client`SELECT pg_notify(${channel}, ${payload})`),
    withTransaction
  })

  const writes = Effect.gen(function* () {
    const [row] = yield* client<{ readonly readOnly: boolean }>`
      SELECT current_setting('transaction_read_only') = 'on' AS "readOnly"`
    if (row?.readOnly !== true) return
    yield* servers.seenReadOnly
    return yield* new ReadOnlyServer().asSqlError("query")
  })
  return { client: pgClient, pipelined, writes, connect: servers.connect }
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
