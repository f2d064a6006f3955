import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type ArchiveFault, type ArchiveTarget, countingFiles, type RefusedFile } from "@runplane/archive"
import { ARCHIVE_TABLES, type ArchiveTable } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { CliFailure, EXIT_CODES, failed } from "../CliFailure.ts"
import type { TableFiles } from "./ArchiveViews.ts"

/** Files that are fetched at the same time, and bytes of one request. */
const CONCURRENCY = 8
const PART_BYTES = 16 * 1024 * 1024

const SCHEME = "file://"

/** The failure of the command for one of the archive. */
export const archiveFailure = ({ kind, message }: ArchiveFault) => {
  if (kind === "unreachable") return new CliFailure({ reason: message, code: EXIT_CODES.unreachable })
  return kind === "refused" ? new CliFailure({ reason: message, code: EXIT_CODES.refused }) : failed(message)
}

/** The paths of the files of these tables that count, below the root of the archive, and those that do not. */
export const listTables = Effect.fnUntraced(function* (target: ArchiveTarget, tables: ReadonlySet<ArchiveTable>) {
  const files: Record<ArchiveTable, ReadonlyArray<string> | undefined> = {
    events: undefined,
    runs: undefined,
    marks: undefined,
    tombstones: undefined
  }
  const refused: Array<RefusedFile> = []
  for (const table of ARCHIVE_TABLES) {
    if (!tables.has(table)) continue
    const counting = yield* Effect.mapError(countingFiles(target, table), archiveFailure)
    files[table] = counting.paths
    refused.push(...counting.refused)
  }
  return { files, refused }
})

/** The directory of an archive of this machine; undefined for a bucket. */
export const directoryOf = ({ url }: ArchiveTarget): string | undefined =>
  url.startsWith(SCHEME) ? url.slice(SCHEME.length) : undefined

export const belowDirectory = (directory: string, files: TableFiles): TableFiles => {
  const below = (paths: ReadonlyArray<string> | undefined) => paths?.map((path) => join(directory, path))
  return {
    events: below(files.events),
    runs: below(files.runs),
    marks: below(files.marks),
    tombstones: below(files.tombstones)
  }
}

/** Copies the files of a bucket into a directory; fails before the first when they have more bytes than `most`. */
export const fetchFiles = Effect.fnUntraced(function* (
  target: ArchiveTarget,
  files: TableFiles,
  directory: string,
  most: number
) {
  const paths = ARCHIVE_TABLES.flatMap((table) => files[table] ?? [])
  const sized = yield* Effect.forEach(
    paths,
    (path) => Effect.map(Effect.mapError(target.size(path), archiveFailure), (size) => ({ path, size })),
    { concurrency: CONCURRENCY }
  )
  const total = sized.reduce((sum, { size }) => sum + size, 0)
  if (total > most) {
    return yield* failed(
      `the query needs ${paths.length} files of ${target.url} with ${total} bytes, more than --max-download: ` +
        "raise it, copy the archive to a directory, or use an engine that reads the bucket"
    )
  }
  yield* Effect.forEach(sized, ({ path, size }) => fetchFile(target, path, size, join(directory, path)), {
    concurrency: CONCURRENCY,
    discard: true
  })
})

const fetchFile = Effect.fnUntraced(function* (target: ArchiveTarget, path: string, size: number, to: string) {
  yield* written(() => mkdir(dirname(to), { recursive: true }))
  yield* written(() => writeFile(to, ""))
  for (let from = 0; from < size; from += PART_BYTES) {
    const end = Math.min(size, from + PART_BYTES)
    const bytes = yield* Effect.mapError(target.read(path, from, end), archiveFailure)
    yield* written(() => writeFile(to, bytes, { flag: "a" }))
  }
})

const written = (write: () => Promise<unknown>) =>
  Effect.tryPromise({
    try: write,
    catch: (cause) =>
      failed(`the files of the bucket cannot be kept: ${cause instanceof Error ? cause.message : cause}`)
  })
