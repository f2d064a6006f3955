import * as PgClient from "@effect/sql-pg/PgClient"
import type { MigrationFailed, SchemaRefused } from "@runplane/database"
import {
  DatabaseUnavailable,
  describeSqlError,
  openDatabase,
  PipelinedTransactions,
  type PoolCounts,
  PoolUse,
  poolCounts
} from "@runplane/database"
import { ControlPlaneSettings, defaultsOf, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { type BackupOptions, backUp } from "./backup/Backup.ts"
import { BackupFailed } from "./backup/BackupFile.ts"
import { type RestoreOptions, restore } from "./backup/Restore.ts"
import { warnOfLimits } from "./ConnectionLimits.ts"
import { DirectConnection } from "./DirectConnection.ts"
import { checkSchema, knownMigrations, makeRunningCheck, migrate } from "./schema/Migrations.ts"
import { SearchBudget } from "./search/SearchBudget.ts"
import { refuseTransactionPooling, type TransactionPooling } from "./TransactionPooling.ts"
import { WriteCheck } from "./WriteCheck.ts"

export interface DatabaseOptions {
  readonly url: string
  /** The password of the role, where the URL has none. */
  readonly password?: string | undefined
  /** The authorities that vouch for the server, where the URL names none: a file in PEM form. */
  readonly caFile?: string | undefined
  /** Whether to bring the schema up to date; otherwise one that is not is refused. Default true. */
  readonly migrateOnStart?: boolean
  readonly maxConnections?: number
  /** Milliseconds; 0 keeps every connection. */
  readonly idleTimeoutMs?: number
  /** How long to wait for a connection, free or new. Milliseconds. */
  readonly connectTimeoutMs?: number
  /** Of a statement for a lock, of a statement, of a transaction that does nothing. Milliseconds; 0 is without end. */
  readonly lockTimeoutMs?: number
  readonly statementTimeoutMs?: number
  readonly idleInTransactionTimeoutMs?: number
  /** The largest answer that is read, a row: default 16 MiB. Bytes. */
  readonly maxAnswerBytes?: number
}

const settings = {
  url: ControlPlaneSettings.DATABASE_URL,
  password: ControlPlaneSettings.DATABASE_PASSWORD,
  caFile: ControlPlaneSettings.DATABASE_TLS_CA_FILE,
  migrateOnStart: ControlPlaneSettings.MIGRATE_ON_START,
  maxConnections: ControlPlaneSettings.DB_POOL_MAX,
  idleTimeoutMs: ControlPlaneSettings.DB_POOL_IDLE_TIMEOUT,
  connectTimeoutMs: ControlPlaneSettings.DB_POOL_CONNECTION_TIMEOUT,
  lockTimeoutMs: ControlPlaneSettings.DB_LOCK_TIMEOUT_MS,
  statementTimeoutMs: ControlPlaneSettings.DB_STATEMENT_TIMEOUT_MS,
  idleInTransactionTimeoutMs: ControlPlaneSettings.DB_IDLE_IN_TRANSACTION_TIMEOUT_MS
}

const defaults = defaultsOf(settings)

const unavailable = (error: SqlError | TransactionPooling) =>
  new DatabaseUnavailable({ reason: error._tag === "SqlError" ? describeSqlError(error) : error.message })

/** A refused schema and a failed migration keep their own words: the database is available. */
const startFailure = (error: SqlError | SchemaRefused | MigrationFailed) =>
  error._tag === "SqlError" ? unavailable(error) : error

/**
 * Connections that the process keeps until it ends: for the locks of its shards, its presence, and the notifications of
 * other processes. They are beyond the pool, so that the smallest pool still has connections for requests.
 */
export const HELD_CONNECTIONS = 3

const client = (given: DatabaseOptions, use: PoolCounts) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const options = { ...defaults, ...given }
      const { client, connect, pipelined, writes } = yield* openDatabase({
        ...options,
        use,
        setting: "DATABASE_URL",
        maxConnections: options.maxConnections + HELD_CONNECTIONS,
        applicationName: "runplane-control-plane"
      })
      yield* Effect.mapError(refuseTransactionPooling(connect), unavailable)
      return Context.make(PgClient.PgClient, client).pipe(
        Context.add(SqlClient.SqlClient, client),
        Context.add(PipelinedTransactions, pipelined),
        Context.add(WriteCheck, writes),
        Context.add(DirectConnection, connect)
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** The check of readiness: the database takes writes, and its schema is still the one of this program. */
const layerCheckedWrites = Layer.effect(
  WriteCheck,
  Effect.gen(function* () {
    const writes = yield* WriteCheck
    const sql = yield* PgClient.PgClient
    const isSchemaOurs = yield* makeRunningCheck
    return Effect.andThen(writes, Effect.provideService(isSchemaOurs, PgClient.PgClient, sql))
  })
)

/**
 * A PostgreSQL pool whose schema is up to date, and what searches may use of it. Building it connects and migrates, or
 * with `migrateOnStart: false` only looks at the schema, and fails when either fails.
 */
export const layerDatabase = (options: DatabaseOptions) => {
  const use = poolCounts()
  const prepared = (options.migrateOnStart === false ? checkSchema : migrate()).pipe(
    Effect.andThen(Effect.suspend(() => warnOfLimits(use.max)))
  )
  return Layer.effectDiscard(Effect.mapError(prepared, startFailure)).pipe(
    Layer.merge(SearchBudget.layer),
    Layer.merge(layerCheckedWrites),
    Layer.provideMerge(client(options, use)),
    Layer.merge(Layer.succeed(PoolUse, use))
  )
}

/** Brings the schema of the database up to date and ends: `runplane migrate`. Returns the applied migrations. */
export const migrateDatabase = (options: DatabaseOptions) =>
  Effect.mapError(migrate(), startFailure).pipe(Effect.provide(client(options, poolCounts())))

/** PostgreSQL holds no larger value. */
const LARGEST_ROW_BYTES = 1024 ** 3 - 1

const largestRows = (options: DatabaseOptions) =>
  client({ ...options, maxConnections: 1, maxAnswerBytes: LARGEST_ROW_BYTES }, poolCounts())

const described = <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
  Effect.mapError(effect, (error) =>
    isSqlError(error) ? new BackupFailed({ reason: describeSqlError(error) }) : error
  )

/** Writes the database to a file: `runplane backup`. Fails for one that is not of this program's migrations. */
export const backupDatabase = (options: DatabaseOptions, backup: Omit<BackupOptions, "schema">) =>
  Effect.gen(function* () {
    const applied = yield* knownMigrations
    const connection = yield* Effect.flatten(DirectConnection)
    return yield* backUp(connection, applied.migrations, { ...backup, schema: applied.schema })
  }).pipe(described, Effect.scoped, Effect.provide(largestRows(options)))

/** Fills an empty database from a file, at the schema of the file: `runplane restore`, which then migrates. */
export const restoreDatabase = (options: DatabaseOptions, from: RestoreOptions) =>
  restore(from).pipe(described, Effect.provide(largestRows(options)))

/** The settings of the database. */
export const databaseSettings = readSettings(settings)
