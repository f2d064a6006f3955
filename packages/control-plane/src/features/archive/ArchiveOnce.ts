import { ArchiveFault } from "@runplane/archive"
import { describeSqlError } from "@runplane/database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { databaseSettings, layerDatabase } from "../../platform/postgres/Database.ts"
import { layerWriter } from "./Archive.ts"
import { ArchiveCompaction } from "./ArchiveCompaction.ts"
import { archiveFromSettings, layerConfigured } from "./ArchiveSettings.ts"
import { ArchiveState } from "./ArchiveState.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"

/** Connections of a program that archives alone. */
const CONNECTIONS = 4

const surroundings = Effect.gen(function* () {
  const archive = yield* archiveFromSettings
  if (archive === undefined) {
    return yield* new ArchiveFault({ kind: "failed", message: "ARCHIVE_URL is not set" })
  }
  const database = yield* databaseSettings
  return Layer.merge(layerConfigured(archive), layerDatabase({ ...database, maxConnections: CONNECTIONS }))
})

/** The text of the server instead of "Query failed". */
const described = <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
  Effect.mapError(effect, (error) =>
    isSqlError(error) ? new ArchiveFault({ kind: "failed", message: describeSqlError(error) }) : error
  )

/** `runplane archive`: writes everything that DATABASE_URL has to ARCHIVE_URL, and ends. */
export const archiveOnce = Effect.flatMap(surroundings, (layer) =>
  described(
    Effect.provide(
      ArchiveWriter.use(({ pass }) => pass),
      layerWriter.pipe(Layer.provide(layer))
    )
  )
)

/** `runplane archive compact`. */
export const compactArchive = Effect.flatMap(surroundings, (layer) =>
  described(
    Effect.provide(
      ArchiveCompaction.use(({ compact }) => compact),
      ArchiveCompaction.layer().pipe(Layer.provide(ArchiveState.layer), Layer.provide(layer))
    )
  )
)
