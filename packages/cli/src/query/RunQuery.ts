import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ArchiveTarget, refusedText } from "@runplane/archive"
import { ARCHIVE_TABLES } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { type CliFailure, failed, usageProblem } from "../CliFailure.ts"
import { plainText } from "../narrative/PlainText.ts"
import { cutToWidth } from "../TextWidth.ts"
import { namedTables, type TableFiles, viewStatements } from "./ArchiveViews.ts"
import type { AnswerBounds } from "./engine/Exchange.ts"
import { DUCKDB_PACKAGE, DuckDbModule, requireDuckDb, runEngine } from "./QueryEngine.ts"
import { faultOf, isOfStatement, positionText, type QueryFault } from "./QueryFault.ts"
import { belowDirectory, directoryOf, fetchFiles, listTables } from "./QueryFiles.ts"

export interface QueryBounds extends AnswerBounds {
  /** Bytes. */
  readonly memory: number
  /** Bytes of a bucket. */
  readonly download: number
}

/** Bound of the temporary files of a query that does not fit into the memory. Bytes. */
const SPILL_BYTES = 10 * 2 ** 30
/** Columns of a message; DuckDB quotes texts of the statement and of the files whole. */
const MOST_MESSAGE = 600
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
  // A text of C ends there.
  if (sql.includes("\0")) return yield* usageProblem("the SQL has a NUL character")
  yield* requireDuckDb
  const tables = namedTables(sql)
  for (let attempt = 1; ; attempt += 1) {
    const { files, refused } = yield* listTables(target, tables)
    const outcome = yield* Effect.scoped(outcomeWith(target, files, sql, bounds))
    if (outcome._tag === "Answer") {
      const isEmpty = tables.size > 0 && ARCHIVE_TABLES.every((table) => (files[table] ?? []).length === 0)
      for (const file of refused) yield* Console.error(refusedText(file))
      if (isEmpty) yield* Console.error(`${target.url} has no files of these tables yet`)
      return outcome.answer
    }
    const isOfFiles = outcome._tag === "Fault" || outcome._tag === "Unread"
    const isChanged =
      isOfFiles &&
      attempt < TRIES &&
      JSON.stringify((yield* listTables(target, tables)).files) !== JSON.stringify(files)
    if (!isChanged) return yield* failureOf(sql, outcome)
  }
})

const outcomeWith = Effect.fnUntraced(function* (
  target: ArchiveTarget,
  files: TableFiles,
  sql: string,
  bounds: QueryBounds
) {
  const module = yield* DuckDbModule
  const folder = yield* temporaryFolder
  const directory = directoryOf(target) ?? join(folder, "files")
  if (directoryOf(target) === undefined) {
    const fetched = yield* Effect.result(fetchFiles(target, files, directory, bounds.download))
    if (fetched._tag === "Failure") return { _tag: "Unread", failure: fetched.failure } as const
  }
  const local = belowDirectory(directory, files)
  return yield* runEngine({
    ...{ sql, module, folder, spill: join(folder, "spill"), memory: bounds.memory, disk: SPILL_BYTES },
    bounds: { rows: bounds.rows, bytes: bounds.bytes },
    views: viewStatements(local),
    files: ARCHIVE_TABLES.flatMap((table) => local[table] ?? [])
  })
})

type Failed = Exclude<Effect.Success<ReturnType<typeof outcomeWith>>, { readonly _tag: "Answer" }>

const failureOf = (sql: string, outcome: Failed): CliFailure => {
  switch (outcome._tag) {
    case "Unread":
      return outcome.failure
    case "Fault":
      return failureOfQuery(sql, faultOf(outcome.message))
    case "Refused":
      return usageProblem(
        "only one SELECT is run (also WITH, FROM, DESCRIBE, SUMMARIZE, EXPLAIN): the archive is read only"
      )
    case "Parameters":
      return usageProblem("a statement has no parameters here: write their values")
    case "Unloadable":
      return failed(`DuckDB cannot be loaded (${plainText(outcome.message)}): npm install ${DUCKDB_PACKAGE}`)
    case "Beyond":
      return failed(BEYOND[outcome.bound])
  }
}

const BEYOND = {
  memory: "the query needs more memory than --memory, which raises the limit",
  disk: "the query needs more than 10 GiB of temporary files; --memory raises what stays in the memory"
}

const failureOfQuery = (sql: string, fault: QueryFault): CliFailure => {
  const { kind, message, position } = fault
  const text = cutToWidth(plainText(message), MOST_MESSAGE)
  if (kind === "Permission") return usageProblem(`${text}; a query reads the files of its archive alone`)
  // Other positions may be those of a view.
  if (isOfStatement(fault)) {
    return usageProblem(position === undefined ? text : `${positionText(sql, position)}: ${text}`)
  }
  if (kind !== "Out of Memory") return failed(text)
  // The lines below the first advise to change settings, which are locked.
  const [what = ""] = message.split("\n")
  return failed(message.includes("max_temp_directory_size") ? BEYOND.disk : `${what}; --memory raises the limit`)
}
