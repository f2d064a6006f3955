import { readDatabaseAddress } from "@runplane/server"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { makeDatabaseClient } from "./DatabaseClient.ts"
import { readDatabaseTls } from "./DatabaseTls.ts"
import { type PoolCounts, poolCounts } from "./PoolUse.ts"

export interface OpenDatabaseOptions {
  /** The setting that has the address, for errors. */
  readonly setting: string
  readonly url: string
  /** The password of the role, where the URL has none. */
  readonly password?: string | undefined
  /** The authorities that vouch for the server, where the URL names none: a file in PEM form. */
  readonly caFile?: string | undefined
  /** How the server shows the connections, unless the address has a name. */
  readonly applicationName: string
  readonly maxConnections: number
  /** Milliseconds; 0 keeps every connection. */
  readonly idleTimeoutMs: number
  /** How long to wait for a connection, free or new. Milliseconds. */
  readonly connectTimeoutMs: number
  /** Of a statement for a lock, of a statement, of a transaction that does nothing. Milliseconds; 0 is without end. */
  readonly lockTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly idleInTransactionTimeoutMs: number
  /** The largest answer that is read, a row: default 16 MiB. Bytes. */
  readonly maxAnswerBytes?: number | undefined
  /** Is updated for the metrics. */
  readonly use?: PoolCounts
}

/** The database cannot be reached, or this program cannot work with it; the service does not start. */
export class DatabaseUnavailable extends Data.TaggedError("DatabaseUnavailable")<{ readonly reason: string }> {
  override get message(): string {
    return `database unavailable: ${this.reason}`
  }
}

/** A pool of connections to the database of an address, until the scope closes. Opens none before it is used. */
export const openDatabase = Effect.fnUntraced(function* (options: OpenDatabaseOptions) {
  const { maxAnswerBytes, setting, use = poolCounts() } = options
  use.max = options.maxConnections
  const address = yield* Effect.fromResult(readDatabaseAddress(options.url, options.caFile)).pipe(
    Effect.mapError((problem) => new DatabaseUnavailable({ reason: `${setting} ${problem}` }))
  )
  const password = address.password ?? options.password
  const ssl = yield* Effect.mapError(
    readDatabaseTls(address),
    ({ message }) => new DatabaseUnavailable({ reason: `the TLS cannot be set up: ${message}` })
  )
  // Each host of several gets its share, so that the wait for a connection includes the next one.
  const share = address.hosts.length === 1 ? 1 : address.hosts.length + 1
  return yield* makeDatabaseClient({
    use,
    url: Redacted.make(options.url),
    hosts: address.hosts,
    readWrite: address.readWrite,
    ssl,
    username: address.user,
    password: password === undefined ? undefined : Redacted.make(password),
    database: address.database,
    startupOptions: address.options,
    maxConnections: options.maxConnections,
    idleTimeout: options.idleTimeoutMs === 0 ? Duration.infinity : Duration.millis(options.idleTimeoutMs),
    connectTimeout: Duration.millis(
      Math.min(address.connectTimeoutMs ?? Number.POSITIVE_INFINITY, options.connectTimeoutMs / share)
    ),
    acquireTimeoutMs: options.connectTimeoutMs,
    applicationName: address.applicationName ?? options.applicationName,
    ...(maxAnswerBytes !== undefined && { maxMessageSize: maxAnswerBytes }),
    session: {
      // The second net: a transaction that waits for others, or blocks them, ends.
      lock_timeout: String(options.lockTimeoutMs),
      statement_timeout: String(options.statementTimeoutMs),
      idle_in_transaction_session_timeout: String(options.idleInTransactionTimeoutMs),
      // A pipelined transaction is identified by it, so no other transaction may be deferrable.
      default_transaction_deferrable: "off",
      // The planner takes some short statements for long ones, whose compilation takes a thousand times longer.
      jit: "off"
    }
  })
})
