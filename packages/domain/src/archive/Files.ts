import { ARCHIVE_TABLES, type ArchiveTable } from "./Tables.ts"

/** A file of the archive, as its path says. */
export interface ArchiveFile {
  readonly table: ArchiveTable
  /** The partition: a UTC day, `2026-11-26`. */
  readonly day: string
  readonly cell: string
  /** The first and the last position that the file covers: seqs of events, numbers of changes of the other tables. */
  readonly from: number
  readonly to: number
}

/** Digits of a position: all safe integers, in an order that is also that of the texts. */
const DIGITS = 16
const CELL = /^[a-z0-9][a-z0-9_-]{0,62}$/

/** The name of a cell: lower-case letters, digits, `_` and `-`, at most 63 characters. */
export const isCellName = (text: string): boolean => CELL.test(text)

const digits = (position: number) => String(position).padStart(DIGITS, "0")

/** The path of the file below the root of the archive. */
export const archivePath = ({ cell, day, from, table, to }: ArchiveFile): string =>
  `${table}/dt=${day}/${cell}-${digits(from)}-${digits(to)}.parquet`

const PATH = /^([a-z]+)\/dt=(\d{4,6}-\d{2}-\d{2})\/([a-z0-9][a-z0-9_-]{0,62})-(\d{16})-(\d{16})\.parquet$/

/** The file of a path; undefined for a path that the archive does not write. */
export const archiveFile = (path: string): ArchiveFile | undefined => {
  const [, name = "", day = "", cell = "", first, last] = PATH.exec(path) ?? []
  const table = ARCHIVE_TABLES.find((known) => known === name)
  const from = Number(first)
  const to = Number(last)
  return table === undefined || !Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from > to
    ? undefined
    : { table, day, cell, from, to }
}

const MS_PER_DAY = 86_400_000

/** The UTC day of a time in milliseconds. */
export const dayOf = (ts: number): string => {
  const day = Math.floor(ts / MS_PER_DAY)
  if (day !== lastDay) {
    lastText = new Date(day * MS_PER_DAY).toISOString().slice(0, -"T00:00:00.000Z".length)
    lastDay = day
  }
  return lastText
}

// The events of a log mostly have the day of the event before.
let lastDay = Number.NaN
let lastText = ""

const directoryOf = (path: string) => path.slice(0, path.lastIndexOf("/"))

/** A file, and the files of its directory and cell whose ranges its range includes. */
export interface CoveringFile {
  readonly path: string
  readonly covered: ReadonlyArray<string>
}

/**
 * The files that no other file covers. Compaction makes the merged file visible before it removes the parts, so a file
 * that holds the rows of the files that it covers counts in their stead.
 */
export const coveringFiles = (paths: ReadonlyArray<string>): ReadonlyArray<CoveringFile> => {
  const known = paths
    .flatMap((path) => {
      const file = archiveFile(path)
      return file === undefined ? [] : [{ path, file, group: `${directoryOf(path)}/${file.cell}` }]
    })
    .toSorted((a, b) => compareTexts(a.group, b.group) || a.file.from - b.file.from || b.file.to - a.file.to)
  const current: Array<{ path: string; covered: Array<string> }> = []
  let group: string | undefined
  let end = 0
  for (const { file, group: of, path } of known) {
    // The last file ends behind all earlier ones, and starts at this position or before.
    if (of === group && file.to <= end) current.at(-1)?.covered.push(path)
    else {
      current.push({ path, covered: [] })
      end = file.to
      group = of
    }
  }
  return current
}

/** The paths of `coveringFiles`: the files that count when each holds the rows of what it covers. */
export const currentFiles = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  coveringFiles(paths).map(({ path }) => path)

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** The current files of a cell that its database does not list. */
export const unknownFiles = (
  paths: ReadonlyArray<string>,
  cell: string,
  known: ReadonlySet<string>
): ReadonlyArray<string> => currentFiles(paths).filter((path) => archiveFile(path)?.cell === cell && !known.has(path))

/** What a compaction has left that was killed after its commit: files of a cell that do not count and are not known. */
export const leftOverFiles = (
  paths: ReadonlyArray<string>,
  cell: string,
  known: ReadonlySet<string>
): ReadonlyArray<string> => {
  const current = new Set(currentFiles(paths))
  return paths.filter((path) => archiveFile(path)?.cell === cell && !current.has(path) && !known.has(path))
}
