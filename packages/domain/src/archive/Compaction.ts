import { type ArchiveFile, archivePath } from "./Files.ts"
import type { FileBounds } from "./Range.ts"

/** A file with its size: rows, and bytes as they are stored. */
export interface SizedFile extends ArchiveFile {
  readonly rows: number
  readonly bytes: number
}

/** Files that become one. */
export interface Merge {
  readonly into: ArchiveFile
  /** In the order of their ranges. */
  readonly parts: ReadonlyArray<ArchiveFile>
}

/**
 * The merges of files of closed days: neighbours of one directory, up to the bounds of a file. A single file is in the
 * plan only when `isDirty` says that it has rows to remove; it is replaced under its own name.
 */
export const planMerges = (
  files: ReadonlyArray<SizedFile>,
  /** The first day that is not closed. */
  before: string,
  bounds: FileBounds,
  isDirty: (file: ArchiveFile) => boolean
): ReadonlyArray<Merge> =>
  groupsOf(files.filter(({ day }) => day < before))
    .flatMap((group) => chunksOf(group, bounds))
    .filter((parts) => parts.length > 1 || parts.some(isDirty))
    .map(mergeOf)

const groupsOf = (files: ReadonlyArray<SizedFile>): ReadonlyArray<ReadonlyArray<SizedFile>> => {
  const groups = new Map<string, Array<SizedFile>>()
  for (const file of files) {
    const key = `${file.table}/${file.day}/${file.cell}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [file])
    else group.push(file)
  }
  return [...groups.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => group.toSorted((a, b) => a.from - b.from))
}

type Chunk = readonly [SizedFile, ...ReadonlyArray<SizedFile>]

/** Neighbours within the bounds. */
const chunksOf = (group: ReadonlyArray<SizedFile>, bounds: FileBounds): ReadonlyArray<Chunk> => {
  const chunks: Array<Chunk> = []
  let rows = 0
  let bytes = 0
  for (const file of group) {
    const chunk = chunks.at(-1)
    if (chunk === undefined || rows + file.rows > bounds.rows || bytes + file.bytes > bounds.bytes) {
      chunks.push([file])
      rows = file.rows
      bytes = file.bytes
    } else {
      chunks[chunks.length - 1] = [...chunk, file]
      rows += file.rows
      bytes += file.bytes
    }
  }
  return chunks
}

const mergeOf = (parts: Chunk): Merge => {
  const [first] = parts
  return { into: { ...plainFile(first), to: (parts.at(-1) ?? first).to }, parts: parts.map(plainFile) }
}

const plainFile = ({ cell, day, from, table, to }: ArchiveFile): ArchiveFile => ({ table, day, cell, from, to })

/** The paths that are removed once the merged file counts. */
export const supersededBy = ({ into, parts }: Merge): ReadonlyArray<string> => {
  const path = archivePath(into)
  return parts.map(archivePath).filter((part) => part !== path)
}

/** A run that a caller has deleted, and whose rows may still be in files. */
export interface DeletedRun {
  /** Position of its first event; undefined for a run without events in files. */
  readonly firstSeq: number | undefined
  readonly lastSeq: number
  /** UTC day on which it was created. */
  readonly createdDay: string
}

/** Whether a file may hold rows of the run. */
export const mayHold = (file: ArchiveFile, { createdDay, firstSeq, lastSeq }: DeletedRun): boolean => {
  if (file.table === "tombstones") return false
  if (file.table !== "events") return file.day === createdDay
  return firstSeq !== undefined && file.from <= lastSeq && file.to >= firstSeq
}

/** The first day that is not closed: the UTC day of now, or that of the first event that is not in files yet. */
export const firstOpenDay = (today: string, waiting: string | undefined): string =>
  waiting !== undefined && waiting < today ? waiting : today
