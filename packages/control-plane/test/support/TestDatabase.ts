import { copyDatabase } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerDatabase, migrateDatabase } from "../../src/platform/postgres/Database.ts"

/** Makes a migrated database; answers its URL. The migrations run once for all test files. */
export const createMigratedDatabase = copyDatabase({
  name: "migrated",
  prepare: (url) => migrateDatabase({ url })
})

/** A migrated database of its own. */
export const layerTestDatabase = Layer.unwrap(
  Effect.map(createMigratedDatabase, (address) => layerDatabase({ url: address, maxConnections: 10 }))
)
