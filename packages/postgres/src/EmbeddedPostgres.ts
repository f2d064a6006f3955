import { join, resolve } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { ensureParent, holdsCluster, initialise, readPassword, SUPERUSER } from "./ClusterFolder.ts"
import type { DataFolderUnusable } from "./DataFolder.ts"
import { type PortUnavailable, probePort } from "./FreePort.ts"
import { type KeptServer, keepServer } from "./KeptServer.ts"
import { findPostgresBinaries, type PostgresNotInstalled } from "./PostgresBinaries.ts"
import { PostgresStartFailed, type ServerOptions, startServer } from "./PostgresServer.ts"
import { chooseServerLocation } from "./ServerLocation.ts"
import type { NoServerUser } from "./ServerUser.ts"
import { temporaryFolder } from "./TemporaryFolder.ts"

export interface EmbeddedPostgresOptions {
  /** The cluster is made in `<dataDir>/postgres`, or linked from there, and survives restarts. */
  readonly dataDir: string
  /** Undefined takes `DEFAULT_POSTGRES_PORT`, or a free one when that is taken. */
  readonly port?: number | undefined
  /** Configuration parameters of PostgreSQL, on top of ours. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** Whether a server that ends by itself is started again. */
  readonly keep?: boolean | undefined
}

/** Not the port of a server that is installed on the machine. */
const DEFAULT_POSTGRES_PORT = 54_329

/** Ports that are tried when any will do. */
const PORT_ATTEMPTS = 5

const HOST = "127.0.0.1"

/** The database of the services. */
export const DATABASE_NAME = "runplane"

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
    /** Absolute path of the cluster: elsewhere than in the data folder where the server's user may not enter that. */
    readonly folder: string
    /** Never succeeds; fails when the server is gone for good. */
    readonly lost: Effect.Effect<never, PostgresStartFailed>
  }
>()("runplane/postgres/EmbeddedPostgres") {
  static readonly layer = (options: EmbeddedPostgresOptions): Layer.Layer<EmbeddedPostgres, EmbeddedPostgresProblem> =>
    Layer.effect(EmbeddedPostgres, make(options))

  /** On any free port, with a cluster that is deleted at the end. */
  static readonly layerTemporary = ({ parameters }: Pick<EmbeddedPostgresOptions, "parameters"> = {}) =>
    Layer.unwrap(Effect.map(temporaryFolder, (dataDir) => EmbeddedPostgres.layer({ dataDir, port: 0, parameters })))
}

const make = Effect.fn("EmbeddedPostgres.make")(function* (options: EmbeddedPostgresOptions) {
  const location = yield* openCluster(options)
  const { cluster } = location
  const password = yield* readPassword(cluster)
  const startOn = (port: number) => {
    const server = { ...location, port, parameters: options.parameters }
    return Effect.map(options.keep === true ? keepServer(server) : runServer(server), (started) => ({
      ...started,
      port
    }))
  }
  const { lost, pid, port } = yield* options.port === undefined
    ? startOnFreePort(startOn, PORT_ATTEMPTS)
    : Effect.flatMap(probePort(HOST, options.port, PORT_USE), startOn)
  const address = (database: string) =>
    `postgresql://${SUPERUSER}:${Redacted.value(password)}@${HOST}:${port}/${database}`
  yield* ensureDatabase(address("postgres"))
  return EmbeddedPostgres.of({ url: address(DATABASE_NAME), port, pid, folder: cluster, lost })
})

const runServer = (options: ServerOptions) =>
  Effect.map(startServer(options), ({ ended, pid }) => ({
    pid,
    lost: Effect.flatMap(ended, (reason) => Effect.fail(new PostgresStartFailed({ reason })))
  }))

/** The cluster of a data folder, made when there is none. */
const openCluster = Effect.fn("EmbeddedPostgres.openCluster")(function* ({
  dataDir,
  parameters
}: EmbeddedPostgresOptions) {
  const folder = join(resolve(dataDir), "postgres")
  yield* ensureParent(folder)
  const location = yield* chooseServerLocation(folder, yield* findPostgresBinaries)
  if (!(yield* holdsCluster(location.cluster)))
    yield* initialise(location, { durable: parameters?.["fsync"] !== "off" })
  return location
})

interface StartedServer extends KeptServer {
  readonly port: number
}

/** Another process may take the port after our probe and before the server starts: then the server uses another one. */
const startOnFreePort = <R>(
  startOn: (port: number) => Effect.Effect<StartedServer, PostgresStartFailed, R>,
  attempts: number
): Effect.Effect<StartedServer, PostgresStartFailed | PortUnavailable, R> =>
  Effect.flatMap(freePort, (port) =>
    startOn(port).pipe(
      Effect.catchTag("PostgresStartFailed", (failure) =>
        Effect.matchEffect(probePort(HOST, port, PORT_USE), {
          onSuccess: () => Effect.fail(failure),
          onFailure: () => (attempts > 1 ? startOnFreePort(startOn, attempts - 1) : Effect.fail(failure))
        })
      )
    )
  )

const freePort = probePort(HOST, DEFAULT_POSTGRES_PORT, PORT_USE).pipe(
  Effect.catchTag("PortUnavailable", () => probePort(HOST, 0, PORT_USE))
)

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
