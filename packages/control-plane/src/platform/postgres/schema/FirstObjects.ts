import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readMigrationFiles } from "@runplane/database"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Effect from "effect/Effect"

const FOLDER = join(PROJECT_FOLDER, "migrations")

/** The numbered files of `migrations/`, in their order. */
export const migrationFiles = readMigrationFiles(FOLDER)

/** The objects that `0001_schema.sql` makes, as `SchemaObjects.ts` reads them from the catalog. */
export const firstObjects: Effect.Effect<ReadonlyArray<string>> = Effect.sync(() =>
  readFileSync(join(FOLDER, "0001_schema.objects.txt"), "utf8")
    .split(/\r?\n/)
    .filter((line) => line !== "")
)
