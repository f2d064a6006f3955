import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { applyMigrations, openDatabase } from "@runplane/database"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"

/** The setting with the address of the database. */
export const DATABASE_SETTING = "LAUNCHER_DATABASE_URL"

/** Processes that migrate the schema wait for each other. The control plane has locks of other numbers. */
const MIGRATION_LOCK = 7_266_431

export interface PeopleDatabaseOptions {
  readonly url: string
  readonly password?: string | undefined
  readonly caFile?: string | undefined
}

/** A pool on the database of the launch service, whose schema `people` is up to date. */
export const layerPeopleDatabase = ({ caFile, password, url }: PeopleDatabaseOptions) => {
  const client = Layer.effectContext(
    Effect.gen(function* () {
      const { client } = yield* openDatabase({
        setting: DATABASE_SETTING,
        url,
        password,
        caFile,
        applicationName: "runplane-launcher",
        maxConnections: 10,
        idleTimeoutMs: 30_000,
        connectTimeoutMs: 5_000,
        lockTimeoutMs: 10_000,
        statementTimeoutMs: 60_000,
        idleInTransactionTimeoutMs: 60_000
      })
      return Context.make(PgClient.PgClient, client).pipe(Context.add(SqlClient.SqlClient, client))
    })
  ).pipe(Layer.provide(Reactivity.layer))
  const migrated = Layer.effectDiscard(
    applyMigrations({
      schema: "people",
      folder: join(PROJECT_FOLDER, "migrations", "people"),
      lock: MIGRATION_LOCK,
      setting: DATABASE_SETTING
    })
  )
  return Layer.provideMerge(migrated, client)
}
