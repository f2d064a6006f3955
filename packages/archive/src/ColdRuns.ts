import { type ArchiveTable, archiveFile, type ColdEvent, type ColdRun } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { ArchiveFault } from "./ArchiveFault.ts"
import type { ArchiveTarget } from "./ArchiveStore.ts"
import { countingFiles, refusedText } from "./CountingFiles.ts"
import { readTable } from "./ReadTable.ts"

/** A run as the archive has it. */
export type FoundRun =
  | { readonly _tag: "Found"; readonly run: ColdRun }
  /** A caller has deleted it. */
  | { readonly _tag: "Deleted"; readonly deletedAt: number }
  | { readonly _tag: "Missing" }

const filesOf = Effect.fnUntraced(function* (target: ArchiveTarget, table: ArchiveTable) {
  const { paths, refused } = yield* countingFiles(target, table)
  for (const file of refused) yield* Effect.logWarning(refusedText(file))
  return paths
})

/** The newest version of a run. It reads the footer, and the Bloom filters, of each file of `runs`. */
export const findColdRun = Effect.fn("archive.findRun")(function* (
  target: ArchiveTarget,
  runId: string
): Effect.fn.Return<FoundRun, ArchiveFault> {
  let deletedAt: number | undefined
  for (const path of yield* filesOf(target, "tombstones")) {
    yield* readTable(target, "tombstones", path, { runId }, (rows) =>
      Effect.sync(() => {
        deletedAt ??= rows[0]?.deleted_at
      })
    )
  }
  if (deletedAt !== undefined) return { _tag: "Deleted", deletedAt }
  let newest: ColdRun | undefined
  for (const path of yield* filesOf(target, "runs")) {
    yield* readTable(target, "runs", path, { runId }, (rows) =>
      Effect.sync(() => {
        for (const row of rows) if (newest === undefined || row.version > newest.version) newest = row
      })
    )
  }
  return newest === undefined ? { _tag: "Missing" } : { _tag: "Found", run: newest }
})

/**
 * The events of a run in their order, through `take`. Only files whose range meets that of the run are opened. The time
 * of a run's events never goes back, so its order is that of the days and ranges.
 */
export const readColdEvents = Effect.fn("archive.readEvents")(function* <E, R>(
  target: ArchiveTarget,
  { cell, first_seq, last_seq, run_id: runId }: ColdRun,
  take: (events: ReadonlyArray<ColdEvent>) => Effect.Effect<void, E, R>
) {
  const files = (yield* filesOf(target, "events"))
    .flatMap((path) => {
      const file = archiveFile(path)
      return file?.cell === cell && file.from <= last_seq && file.to >= first_seq ? [{ path, file }] : []
    })
    .toSorted((a, b) => (a.file.day === b.file.day ? a.file.from - b.file.from : a.file.day < b.file.day ? -1 : 1))
  for (const { path } of files) {
    yield* readTable(target, "events", path, { runId, seqs: [first_seq, last_seq] }, take)
  }
})
