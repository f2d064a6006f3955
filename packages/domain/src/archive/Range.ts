import { type ArchiveFile, archivePath } from "./Files.ts"
import type { ArchiveTable } from "./Tables.ts"

/** How large a file may become; the first row is taken whatever its size is. */
export interface FileBounds {
  readonly rows: number
  /** Of the texts of the rows, before compression. */
  readonly bytes: number
}

/** What a range has taken so far. */
export interface Taken {
  readonly rows: number
  readonly bytes: number
}

export const NOTHING_TAKEN: Taken = { rows: 0, bytes: 0 }

/** Whether a range that has taken so much is full before a row of that many bytes. */
export const isFullFor = ({ bytes, rows }: Taken, rowBytes: number, bounds: FileBounds): boolean =>
  rows > 0 && (rows >= bounds.rows || bytes + rowBytes > bounds.bytes)

/**
 * A range of positions that is written as one file for each UTC day of its rows. It is committed before the first of
 * its files is visible: a process that continues after a crash writes the same names again.
 */
export interface ArchiveRange {
  readonly table: ArchiveTable
  readonly cell: string
  readonly from: number
  readonly to: number
  readonly days: ReadonlyArray<string>
}

/** The files of a range, in the order of their days. */
export const filesOf = ({ cell, days, from, table, to }: ArchiveRange): ReadonlyArray<ArchiveFile> =>
  [...new Set(days)].toSorted().map((day) => ({ table, day, cell, from, to }))

export const pathsOf = (range: ArchiveRange): ReadonlyArray<string> => filesOf(range).map(archivePath)

/** Whether rows are written now: enough for a file, or the oldest has waited for the interval. */
export const isDue = (taken: Taken, isFull: boolean, oldestWaitedMs: number, intervalMs: number): boolean =>
  taken.rows > 0 && (isFull || oldestWaitedMs >= intervalMs)
