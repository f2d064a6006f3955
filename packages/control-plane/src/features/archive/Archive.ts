import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Placement } from "../../observe/placement/Placement.ts"
import { archiveForever } from "./ArchiveLoop.ts"
import { archiveFromSettings, layerConfigured } from "./ArchiveSettings.ts"
import { ArchiveState } from "./ArchiveState.ts"
import { ArchiveStatus } from "./ArchiveStatus.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"

/** The writer of an archive, over its store and options. */
export const layerWriter = ArchiveWriter.layer.pipe(Layer.provide(ArchiveState.layer))

/** One of all processes writes the archive, by the ARCHIVE_* settings; none unless ARCHIVE_URL is set. */
const layerLoop = Layer.unwrap(
  Effect.map(archiveFromSettings, (archive) => {
    if (archive === undefined) return Layer.empty
    const singleton = Placement.use((placement) => placement.singleton("archive", archiveForever))
    return Layer.effectDiscard(singleton).pipe(Layer.provide(layerWriter), Layer.provide(layerConfigured(archive)))
  })
)

/** The archive of the log, and its state for operators. Requires the placement. */
export const layer = layerLoop.pipe(Layer.provideMerge(ArchiveStatus.layer))
