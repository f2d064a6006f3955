import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ArchiveTarget } from "@runplane/archive"
import { ARCHIVE_TABLES } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { type CliFailure, failed, usageProblem } from "../CliFailure.ts"
import { plainText } from "../story/PlainText.ts"
import { type AnswerBounds, answerOf } from "./Answer.ts"
import { namedTables, type TableFiles, viewStatements } from "./ArchiveViews.ts"
import { confine, connect, execute, loadDuckDb } from "./DuckDb.ts"
import { isOfStatement, positionText, type QueryFault } from "./QueryFault.ts"
import { belowDirectory, directoryOf, fetchFiles, listTables } from "./QueryFiles.ts"

export interface QueryBounds extends AnswerBounds {
  /** As DuckDB writes sizes: `2GiB`. */
  readonly memory: string
  /** Bytes of a bucket. */
  readonly download: number
}

/** Bound of the temporary files of a query that does not fit into the memory. */
const SPILL_SIZE = "10GiB"
/** A query whose files were merged while it ran is run again with the new list, so often. */
const TRIES = 3

const temporaryFolder = Effect.acquireRelease(
  Effect.tryPromise({
    try: () => mkdtemp(join(tmpdir(), "runplane-query-")),
    catch: (cause) => failed(`no temporary folder: ${cause instanceof Error ? cause.message : cause}`)
  }),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** The answer of a statement over the views of an archive (docs/reference/analytics.md#runplane-query). */
export const runQuery = Effect.fnUntraced(function* (target: ArchiveTarget, sql: string, bounds: QueryBounds) {
  const duckdb = yield* loadDuckDb
  const tables = namedTables(sql)
  for (let attempt = 1; ; attempt += 1) {
    const files = yield* listTables(target, tables)
    const answer = yield* Effect.result(Effect.scoped(answerWith(duckdb, target, files, sql, bounds)))
    if (answer._tag === "Success") {
      const isEmpty = tables.size > 0 && ARCHIVE_TABLES.every((table) => (files[table] ?? []).length === 0)
      if (isEmpty) yield* Console.error(`${target.url} has no files of these tables yet`)
      return answer.success
    }
    const fault = answer.failure
    const isChanged = attempt < TRIES && JSON.stringify(yield* listTables(target, tables)) !== JSON.stringify(files)
    if (!isChanged) return yield* fault._tag === "QueryFault" ? failureOfQuery(sql, fault) : fault
  }
})

const answerWith = Effect.fnUntraced(function* (
  duckdb: Effect.Success<typeof loadDuckDb>,
  target: ArchiveTarget,
  files: TableFiles,
  sql: string,
  bounds: QueryBounds
) {
  const folder = yield* temporaryFolder
  const local = directoryOf(target)
  const directory = local ?? join(folder, "files")
  if (local === undefined) yield* fetchFiles(target, files, directory, bounds.download)
  const spill = join(folder, "spill")
  const connection = yield* connect(duckdb, { memory: bounds.memory, spill, spillSize: SPILL_SIZE })
  for (const statement of viewStatements(belowDirectory(directory, files))) yield* execute(connection, statement)
  yield* confine(connection, directory)
  return yield* answerOf(duckdb, connection, sql, bounds)
})

const failureOfQuery = (sql: string, fault: QueryFault): CliFailure => {
  const { kind, message, position } = fault
  const text = plainText(message)
  if (kind === "Permission") return usageProblem(`${text}; a query reads the files of its archive alone`)
  // Other positions may be those of a view.
  if (isOfStatement(fault)) {
    return usageProblem(position === undefined ? text : `${positionText(sql, position)}: ${text}`)
  }
  return failed(kind === "Out of Memory" ? `${text}; --memory raises the limit` : text)
}
