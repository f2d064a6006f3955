import { type ArchiveTable, coveringFiles } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { ArchiveFault } from "./ArchiveFault.ts"
import type { ArchiveTarget } from "./ArchiveStore.ts"
import { readColumns, rowsOf } from "./ReadTable.ts"

/** A file whose name covers others without their rows. It does not count. */
export interface RefusedFile {
  readonly path: string
  /** Files that it covers by its name. */
  readonly covers: number
  /** Rows of these files that it lacks, of those that were compared. */
  readonly missing: number
}

export interface CountingFiles {
  readonly paths: ReadonlyArray<string>
  readonly refused: ReadonlyArray<RefusedFile>
}

/** Rows of parts that one pass over a covering file looks for. Their keys stay in memory. */
const ROWS_OF_PASS = 1_000_000

/** Lists of a table, while compaction removes files. */
const TRIES = 5

/** A row that a covering file must hold. */
interface Expected {
  readonly run: string
  readonly version: number
}

/**
 * The files of a table that count (docs/reference/archive.md#reading). A name alone hides no rows: a file counts in the
 * stead of the files that it covers when it holds each of their rows, or a later version of it; rows of deleted runs
 * may be missing. Rows are compared only while a covering file and its parts are both there, the moment in which
 * compaction removes the parts.
 */
export const countingFiles = Effect.fn("archive.countingFiles")(
  function* (target: ArchiveTarget, table: ArchiveTable): Effect.fn.Return<CountingFiles, ArchiveFault> {
    const deleted = yield* Effect.cached(deletedRuns(target, table))
    const refused: Array<RefusedFile> = []
    const proven = new Set<string>()
    let paths = yield* target.list(`${table}/`)
    for (;;) {
      const current = coveringFiles(paths)
      const next = current.find(({ covered, path }) => covered.length > 0 && !proven.has(path))
      if (next === undefined) return { paths: current.map(({ path }) => path), refused }
      const missing = yield* missingRows(target, table, next.path, next.covered, deleted)
      if (missing === 0) proven.add(next.path)
      else {
        refused.push({ path: next.path, covers: next.covered.length, missing })
        paths = paths.filter((path) => path !== next.path)
      }
    }
  },
  // Compaction has removed a part between the list and the read: the next list does not have it.
  Effect.retry({ times: TRIES, while: ({ kind }) => kind === "missing" })
)

/** One line for a person, without control characters: a path has letters, digits and `=/_-.` alone. */
export const refusedText = ({ covers, missing, path }: RefusedFile): string =>
  `${path} does not count: it lacks ${missing} rows of the ${covers} ${covers === 1 ? "file" : "files"} that it covers`

const deletedRuns = Effect.fnUntraced(function* (target: ArchiveTarget, table: ArchiveTable) {
  const runs = new Set<string>()
  // The table itself: compaction keeps all of its rows.
  if (table === "tombstones") return runs
  const { paths } = yield* countingFiles(target, "tombstones")
  yield* Effect.forEach(
    paths,
    (path) =>
      readColumns(target, "tombstones", path, ["run_id"], (rows) =>
        Effect.sync(() => {
          for (const { run_id } of rows) runs.add(run_id)
        })
      ),
    { discard: true }
  )
  return runs
})

const missingRows = Effect.fnUntraced(function* (
  target: ArchiveTarget,
  table: ArchiveTable,
  covering: string,
  parts: ReadonlyArray<string>,
  deleted: Effect.Effect<ReadonlySet<string>, ArchiveFault>
) {
  const expected = new Map<string | number, Expected>()
  let missing = 0
  const look = Effect.gen(function* () {
    yield* eachRow(target, table, covering, (key, { version }) => {
      if (version >= (expected.get(key)?.version ?? Number.POSITIVE_INFINITY)) expected.delete(key)
    })
    if (expected.size > 0) {
      const gone = yield* deleted
      for (const { run } of expected.values()) if (!gone.has(run)) missing += 1
    }
    expected.clear()
  })
  for (const part of parts) {
    if (expected.size > 0 && expected.size + (yield* rowsOf(target, part)) > ROWS_OF_PASS) yield* look
    // One pass shows that the file is not a merge of its parts; how many rows it lacks in all matters less.
    if (missing > 0) return missing
    yield* eachRow(target, table, part, (key, row) => {
      if (row.version >= (expected.get(key)?.version ?? 0)) expected.set(key, row)
    })
  }
  yield* look
  return missing
})

/** The key of each row, its `seq` or the id that all versions of a row share, through `take`. */
const eachRow = Effect.fnUntraced(function* (
  target: ArchiveTarget,
  table: ArchiveTable,
  path: string,
  take: (key: string | number, row: Expected) => void
) {
  switch (table) {
    case "events":
      return yield* readColumns(target, table, path, ["seq", "run_id"], (rows) =>
        Effect.sync(() => {
          for (const { run_id, seq } of rows) take(seq, { run: run_id, version: 0 })
        })
      )
    case "marks":
      return yield* readColumns(target, table, path, ["mark_id", "run_id", "version"], (rows) =>
        Effect.sync(() => {
          for (const { mark_id, run_id, version } of rows) take(mark_id, { run: run_id, version })
        })
      )
    case "runs":
    case "tombstones":
      return yield* readColumns(target, table, path, ["run_id", "version"], (rows) =>
        Effect.sync(() => {
          for (const { run_id, version } of rows) take(run_id, { run: run_id, version })
        })
      )
  }
})
