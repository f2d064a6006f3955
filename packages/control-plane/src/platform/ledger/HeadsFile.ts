import type { LedgerEntry, Seal } from "@runplane/domain"
import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { Metrics } from "../metrics/Metrics.ts"

/** An entry as it is published, with the seal that it is about. */
export interface PublishedEntry extends LedgerEntry {
  readonly seal?: Seal
}

/**
 * Publishes the entries that this process has numbered outside of the database: nowhere, or at the end of the file of
 * `SEAL_HEADS_FILE`, one JSON object a line (docs/reference/seal.md#publishing).
 */
export const HeadsFile = Context.Reference<{
  readonly publish: (entries: ReadonlyArray<PublishedEntry>) => Effect.Effect<void>
}>("runplane/control-plane/HeadsFile", { defaultValue: () => ({ publish: () => Effect.void }) })

/** From `SEAL_HEADS_FILE`. A line that cannot be written is logged and counted; the ledger continues. */
export const layerHeadsFile = Layer.effect(
  HeadsFile,
  Effect.gen(function* () {
    const path = yield* readSetting(ControlPlaneSettings.SEAL_HEADS_FILE)
    if (path === undefined) return { publish: () => Effect.void }
    const files = yield* FileSystem.FileSystem
    const { sealDoubted } = yield* Metrics
    const publish = (entries: ReadonlyArray<PublishedEntry>) =>
      files.writeFileString(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { flag: "a" }).pipe(
        Effect.catch(({ reason }) => {
          sealDoubted("published")
          return Effect.logError(
            `${path}: entries ${entries[0]?.number} to ${entries.at(-1)?.number} were not published: ${reason.message}`
          )
        })
      )
    return { publish }
  })
)
