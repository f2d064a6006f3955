import { createDatabase } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerDatabase } from "../../src/database/Database.ts"

/** A migrated database of its own. */
export const layerTestDatabase = Layer.unwrap(
  Effect.map(createDatabase, (address) => layerDatabase({ url: address, maxConnections: 10 }))
)
