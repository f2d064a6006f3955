import { connect, type Socket } from "node:net"
import type { PgPoolConfig } from "@effect/sql-pg/PgClient"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import type { DatabaseHost } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { ReadOnlyServer } from "./SqlFailures.ts"

/** Settings of PostgreSQL by name, for a session. */
export type SessionSettings = Readonly<Record<string, string>>

/**
 * Gives the session its settings, and returns whether its server takes writes. They are no startup parameters, because
 * a pooler refuses or drops those.
 */
export const setUpSession = (
  connection: PgConnection.PgConnection,
  settings: SessionSettings
): Effect.Effect<boolean, SqlError> => {
  const names = Object.keys(settings)
  const columns = names.map((_, at) => `set_config($${at * 2 + 1}, $${at * 2 + 2}, false)`)
  const statement = `SELECT ${["current_setting('transaction_read_only') = 'off'", ...columns].join(", ")}`
  return Effect.map(
    connection.queryValues(statement, Object.entries(settings).flat(), false),
    ([row]) => row?.[0] === true
  )
}

/**
 * An idle connection is probed after this time, so that one whose server has vanished does not wait for ever.
 * Milliseconds.
 */
const KEEP_ALIVE_MS = 30_000

export interface ServerPoolOptions
  extends Omit<PgPoolConfig, "url" | "host" | "port" | "path" | "stream" | "keepAlive"> {
  readonly session: SessionSettings
  /** Whether a connection to a server that takes no writes is refused. */
  readonly readWrite: boolean
}

/** The connections to one server. */
export interface ServerPool {
  /** Checks a connection out until the scope closes. Its session has the settings. */
  readonly get: Effect.Effect<PgConnection.PgConnection, SqlError, Scope.Scope>
  /** Opens a connection beside the pool until the scope closes. Its session has the defaults of the server. */
  readonly connect: Effect.Effect<PgConnection.PgConnection, SqlError, Scope.Scope>
  /** Whether its server took no writes when the connection was opened. */
  readonly isReadOnly: (connection: PgConnection.PgConnection) => boolean
  /** A moment, for `closeOlder`. */
  readonly now: () => number
  /** Breaks every connection that was opened before that moment, those in use too. */
  readonly closeOlder: (moment: number) => void
}

/**
 * A pool of connections to one server. A connection has one user at a time: one that reserves it waits for each answer,
 * a pipelined transaction does not.
 */
export const makeServerPool = Effect.fnUntraced(function* ({ host, port }: DatabaseHost, options: ServerPoolOptions) {
  const { readWrite, session, ...given } = options
  /** The open sockets, with the moment of each. */
  const sockets = new Map<Socket, number>()
  let moment = 0
  const stream = () => {
    const socket = host.startsWith("/")
      ? connect({ path: `${host}/.s.PGSQL.${port}` })
      : connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
    sockets.set(socket, moment++)
    socket.once("close", () => sockets.delete(socket))
    return socket
  }
  const config = { ...given, host, port, stream }
  const pool = yield* PgPool.make({ ...config, multiplex: true, multiplexConcurrency: 1 })
  /** Connections whose session has the settings, and whether their server takes writes. */
  const ready = new WeakMap<PgConnection.PgConnection, boolean>()

  const prepare = (connection: PgConnection.PgConnection) =>
    setUpSession(connection, session).pipe(
      Effect.tap((writable) => (writable || !readWrite ? Effect.void : new ReadOnlyServer().asSqlError("connect"))),
      Effect.tapError(() => pool.invalidate(connection)),
      Effect.map((writable) => {
        ready.set(connection, writable)
        return connection
      })
    )
  const get = Effect.flatMap(pool.get, (connection) =>
    ready.has(connection) ? Effect.succeed(connection) : prepare(connection)
  )
  const serverPool: ServerPool = {
    get,
    connect: PgConnection.make(config),
    isReadOnly: (connection) => ready.get(connection) === false,
    now: () => moment,
    closeOlder: (limit) => {
      for (const [socket, opened] of sockets) if (opened < limit) socket.destroy()
    }
  }
  return serverPool
})
