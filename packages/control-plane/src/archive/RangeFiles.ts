import { ArchiveStore, openTableFile, type TableFile } from "@runplane/archive"
import { type ArchiveRange, type ArchiveRow, type ArchiveTable, pathsOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { pathOf, type WrittenFile } from "./ArchiveState.ts"

/** The files of one range in the making: one a day. */
export interface RangeFiles<Table extends ArchiveTable> {
  /** Adds a row of `bytes` bytes; lets other fibers run after each encoded group. */
  readonly add: (day: string, row: ArchiveRow<Table>, bytes: number) => Effect.Effect<void>
  readonly days: () => ReadonlyArray<string>
  /** The encoded files, by day. */
  readonly finish: () => ReadonlyArray<EncodedFile>
}

export interface EncodedFile {
  readonly day: string
  readonly rows: number
  readonly bytes: Uint8Array
}

export const openRangeFiles = <Table extends ArchiveTable>(table: Table): RangeFiles<Table> => {
  const files = new Map<string, TableFile<Table>>()
  return {
    add: (day, row, bytes) => {
      let file = files.get(day)
      if (file === undefined) {
        file = openTableFile(table)
        files.set(day, file)
      }
      return file.add(row, bytes) ? Effect.yieldNow : Effect.void
    },
    days: () => [...files.keys()].toSorted(),
    finish: () => [...files].map(([day, file]) => ({ day, rows: file.rows(), bytes: file.finish() }))
  }
}

/**
 * Makes the files of a committed range visible. A planned file without a row is removed: an earlier attempt may have
 * written it before its run was deleted.
 */
export const putFiles = Effect.fn("archive.putFiles")(function* (
  range: ArchiveRange,
  files: ReadonlyArray<EncodedFile>
) {
  const store = yield* ArchiveStore
  const written: Array<WrittenFile> = []
  for (const { bytes, day, rows } of files) {
    const path = pathOf(range, day)
    yield* store.put(path, bytes)
    written.push({ path, day, rows, bytes: bytes.length })
  }
  const made = new Set(written.map(({ path }) => path))
  for (const path of pathsOf(range)) if (!made.has(path)) yield* store.remove(path)
  return written
})
