import { ArchiveStore, openTableFile, type TableFile } from "@runplane/archive"
import { type ArchiveRange, type ArchiveRow, type ArchiveTable, fileChanges } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { WrittenFile } from "./ArchiveState.ts"

/** The files of one range in the making: one a day. */
export interface RangeFiles<Table extends ArchiveTable> {
  /** Adds a row of `bytes` bytes. True when a group was encoded: the caller lets other fibers run. */
  readonly add: (day: string, row: ArchiveRow<Table>, bytes: number) => boolean
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
      return file.add(row, bytes)
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
  const { puts, removals } = fileChanges(
    range,
    files.map(({ day }) => day)
  )
  for (const { day, path } of puts) {
    const file = files.find((one) => one.day === day)
    if (file === undefined) continue
    yield* store.put(path, file.bytes)
    written.push({ path, day, rows: file.rows, bytes: file.bytes.length })
  }
  yield* Effect.forEach(removals, store.remove, { discard: true })
  return written
})
