import { migrateDatabase } from "@runplane/control-plane"
import { copyDatabase } from "@runplane/testing"

/** Makes a database with the schema of the control plane; answers its URL. They are copies of one. */
export const createMigratedDatabase = copyDatabase({
  name: "migrated",
  prepare: (url) => migrateDatabase({ url })
})
