import { ArchiveStore, archiveTarget } from "@runplane/archive"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Placement } from "../observe/placement/Placement.ts"
import { archiveForever } from "./ArchiveLoop.ts"
import { ArchiveOptions } from "./ArchiveOptions.ts"
import { ArchiveState } from "./ArchiveState.ts"
import { ArchiveStatus } from "./ArchiveStatus.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"

const settings = {
  url: ControlPlaneSettings.ARCHIVE_URL,
  cell: ControlPlaneSettings.ARCHIVE_CELL,
  intervalMs: ControlPlaneSettings.ARCHIVE_INTERVAL_MS,
  rows: ControlPlaneSettings.ARCHIVE_FILE_ROWS,
  bytes: ControlPlaneSettings.ARCHIVE_FILE_BYTES,
  accessKeyId: ControlPlaneSettings.AWS_ACCESS_KEY_ID,
  secretAccessKey: ControlPlaneSettings.AWS_SECRET_ACCESS_KEY,
  sessionToken: ControlPlaneSettings.AWS_SESSION_TOKEN,
  region: ControlPlaneSettings.AWS_REGION,
  endpoint: ControlPlaneSettings.AWS_ENDPOINT_URL
}

/** The store and the options of the settings; undefined without ARCHIVE_URL. */
export const archiveFromSettings = Effect.gen(function* () {
  const { bytes, cell, intervalMs, rows, url, ...access } = yield* readSettings(settings)
  if (url === undefined) return undefined
  const target = yield* Effect.fromResult(archiveTarget(url, access))
  return Layer.merge(
    Layer.succeed(ArchiveStore, target),
    Layer.succeed(ArchiveOptions, { cell, intervalMs, bounds: { rows, bytes } })
  )
})

/** The writer of an archive, over its store and options. */
export const layerWriter = ArchiveWriter.layer.pipe(Layer.provide(ArchiveState.layer))

/** One of all processes writes the archive, by the ARCHIVE_* settings; none unless ARCHIVE_URL is set. */
const layerLoop = Layer.unwrap(
  Effect.map(archiveFromSettings, (archive) => {
    if (archive === undefined) return Layer.empty
    const singleton = Placement.use((placement) => placement.singleton("archive", archiveForever))
    return Layer.effectDiscard(singleton).pipe(Layer.provide(layerWriter), Layer.provide(archive))
  })
)

/** The archive of the log, and its state for operators. Requires the placement. */
export const layer = layerLoop.pipe(Layer.provideMerge(ArchiveStatus.layer))
