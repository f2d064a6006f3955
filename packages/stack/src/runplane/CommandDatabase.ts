import { failed } from "@runplane/cli"
import { databaseSettings } from "@runplane/control-plane"
import { DATABASE_NAME, EmbeddedPostgres, hasCluster, runningServerUrl } from "@runplane/postgres"
import { readSettings, StackSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const { DATABASE_URL, RUNPLANE_DATA_DIR, RUNPLANE_POSTGRES_PORT } = StackSettings

/**
 * The database that a command works on: DATABASE_URL, or the embedded one of RUNPLANE_DATA_DIR. The embedded server is
 * started for the command where it does not run yet, and made where there is none, if `make` says so.
 */
export const commandDatabase = Effect.fnUntraced(function* ({ make }: { readonly make: boolean }) {
  const options = yield* databaseSettings
  const given = yield* readSettings({ DATABASE_URL, RUNPLANE_DATA_DIR, RUNPLANE_POSTGRES_PORT })
  if (given.DATABASE_URL !== undefined) return { ...options, url: given.DATABASE_URL }
  const dataDir = given.RUNPLANE_DATA_DIR
  const url = yield* runningServerUrl(dataDir, DATABASE_NAME)
  if (url !== undefined) return { ...options, url, password: undefined, caFile: undefined }
  if (!make && !hasCluster(dataDir)) {
    return yield* failed(`there is no database: DATABASE_URL is not set, and ${dataDir} (RUNPLANE_DATA_DIR) holds none`)
  }
  const server = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, port: given.RUNPLANE_POSTGRES_PORT }))
  return { ...options, url: Context.get(server, EmbeddedPostgres).url, password: undefined, caFile: undefined }
})
