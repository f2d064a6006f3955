import { join, resolve } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type PortUnavailable, probePort } from "./FreePort.ts"
import {
  type DataFolderUnusable,
  ensureParent,
  holdsCluster,
  initialise,
  readPassword,
  SUPERUSER
} from "./postgres/ClusterFolder.ts"
import { findPostgresBinaries, type PostgresNotInstalled } from "./postgres/PostgresBinaries.ts"
import { PostgresStartFailed, startServer } from "./postgres/PostgresServer.ts"
import { chooseServerUser, type NoServerUser } from "./postgres/ServerUser.ts"

export interface EmbeddedPostgresOptions {
  /** The cluster is made in `<dataDir>/postgres` and survives restarts. */
  readonly dataDir: string
  /** Undefined takes `DEFAULT_POSTGRES_PORT`, or a free one when that is taken. */
  readonly port?: number | undefined
}

/** Not the port of a server that is installed on the machine. */
const DEFAULT_POSTGRES_PORT = 54_329

/** The database of the services. */
const DATABASE_NAME = "runplane"

const PORT_USE = { purpose: "embedded PostgreSQL", setting: "RUNPLANE_POSTGRES_PORT" }

/** Why there is no database; every message is one line. */
export type EmbeddedPostgresProblem =
  | DataFolderUnusable
  | NoServerUser
  | PortUnavailable
  | PostgresNotInstalled
  | PostgresStartFailed

/**
 * A PostgreSQL server of our own on the loopback, for as long as its scope lives. Writes reach the disk (`fsync`) and
 * stay in the data folder; the password is made with it.
 */
export class EmbeddedPostgres extends Context.Service<
  EmbeddedPostgres,
  {
    /** With the password: for clients, not for display. */
    readonly url: string
    readonly port: number
    readonly pid: number
    /** Absolute path of the cluster. */
    readonly folder: string
  }
>()("runplane/stack/EmbeddedPostgres") {
  static readonly layer = (options: EmbeddedPostgresOptions): Layer.Layer<EmbeddedPostgres, EmbeddedPostgresProblem> =>
    Layer.effect(EmbeddedPostgres, make(options))
}

const make = Effect.fn("EmbeddedPostgres.make")(function* (options: EmbeddedPostgresOptions) {
  const folder = join(resolve(options.dataDir), "postgres")
  yield* ensureParent(folder)
  const binaries = yield* findPostgresBinaries
  const user = yield* chooseServerUser(folder, [binaries.postgres, folder])
  if (!(yield* holdsCluster(folder))) yield* initialise(folder, binaries, user)
  const port = yield* choosePort(options.port)
  const password = yield* readPassword(folder)
  const pid = yield* startServer({ cluster: folder, port, binaries, user })
  const address = (database: string) =>
    `postgresql://${SUPERUSER}:${Redacted.value(password)}@127.0.0.1:${port}/${database}`
  yield* ensureDatabase(address("postgres"))
  return EmbeddedPostgres.of({ url: address(DATABASE_NAME), port, pid, folder })
})

const choosePort = (wanted: number | undefined) =>
  wanted === undefined
    ? probePort("127.0.0.1", DEFAULT_POSTGRES_PORT, PORT_USE).pipe(
        Effect.catchTag("PortUnavailable", () => probePort("127.0.0.1", 0, PORT_USE))
      )
    : probePort("127.0.0.1", wanted, PORT_USE)

const ensureDatabase = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const found = yield* sql`SELECT 1 FROM pg_database WHERE datname = ${DATABASE_NAME}`
    if (found.length === 0) yield* sql.unsafe(`CREATE DATABASE ${DATABASE_NAME}`).unprepared
  }).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.mapError(({ message, reason }) => {
      const { cause } = reason
      return new PostgresStartFailed({ reason: cause instanceof Error ? cause.message : message })
    })
  )
