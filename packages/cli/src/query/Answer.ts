import type { DuckDBConnection, DuckDBResult } from "@duckdb/node-api"
import * as Effect from "effect/Effect"
import { interruptible } from "./DuckDb.ts"
import { QueryFault } from "./QueryFault.ts"
import { converterOf, type Value } from "./Values.ts"

type DuckDbModule = typeof import("@duckdb/node-api")

/** Bounds of an answer; bytes are those of its values as JSON. */
export interface AnswerBounds {
  readonly rows: number
  readonly bytes: number
}

export interface Answer {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
  readonly rows: ReadonlyArray<ReadonlyArray<Value>>
  /** The bound that the answer was cut at; undefined when it is whole. */
  readonly cut: keyof AnswerBounds | undefined
}

/** Spaces, parentheses and comments before the first word. Comments nest in DuckDB: one with another is not skipped. */
const BEFORE_WORD = /^(?:[\s(]|--[^\r\n]*(?=[\r\n])|\/\*(?:(?!\/\*)[\s\S])*?\*\/)*/
const READING = /^(?:select|with|from|values|table|describe|desc|show|summarize)\b/i
const EXPLAIN = /^explain(?:\s+analyze)?\s+/i

/**
 * Whether the first word is one of a statement that reads. The binder of others, as of EXPORT DATABASE, writes to the
 * directory already, so they must not be prepared.
 */
const beginsReading = (sql: string): boolean => {
  const begun = sql.replace(BEFORE_WORD, "")
  return READING.test(begun.replace(EXPLAIN, "").replace(BEFORE_WORD, ""))
}

const readsOnly = new QueryFault({
  kind: "Binder",
  message: "only one SELECT is run (also WITH, FROM, DESCRIBE, SUMMARIZE, EXPLAIN): the archive is read only",
  position: undefined
})

/**
 * The prepared statement; fails unless the text is one statement that only reads. The directories that a connection may
 * read are those that it may write to, so nothing else keeps COPY and ATTACH from the files.
 */
const prepareReading = Effect.fnUntraced(function* (
  { StatementType }: DuckDbModule,
  connection: DuckDBConnection,
  sql: string
) {
  const prepare = Effect.acquireRelease(
    interruptible(connection, async () => {
      const statements = await connection.extractStatements(sql)
      return statements.count === 1 && beginsReading(sql) ? await statements.prepare(0) : undefined
    }),
    (prepared) => Effect.sync(() => prepared?.destroySync())
  )
  // Extraction fails without a report for a text without a statement.
  const prepared = yield* Effect.catchIf(
    prepare,
    ({ kind }) => kind === "unknown",
    () => readsOnly
  )
  if (prepared === undefined) return yield* readsOnly
  const { EXPLAIN, SELECT } = StatementType
  return prepared.statementType === SELECT || prepared.statementType === EXPLAIN ? prepared : yield* readsOnly
})

/** Runs a statement that reads, up to the bounds. */
export const answerOf = Effect.fnUntraced(function* (
  duckdb: DuckDbModule,
  connection: DuckDBConnection,
  sql: string,
  bounds: AnswerBounds
) {
  const prepared = yield* prepareReading(duckdb, connection, sql)
  const result = yield* interruptible(connection, () => prepared.stream())
  return yield* interruptible(connection, () => take(duckdb, result, bounds))
})

const take = async (duckdb: DuckDbModule, result: DuckDBResult, bounds: AnswerBounds): Promise<Answer> => {
  const types = result.columnTypes()
  const columns = result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }))
  const convert = converterOf(duckdb.JsonDuckDBValueConverter, ({ typeId }) => typeId === duckdb.DuckDBTypeId.DECIMAL)
  const rows: Array<ReadonlyArray<Value>> = []
  let bytes = 0
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (let index = 0; index < chunk.rowCount; index += 1) {
      if (rows.length === bounds.rows) return { columns, rows, cut: "rows" }
      const row = chunk.convertRowValues(index, convert)
      bytes += Buffer.byteLength(JSON.stringify(row))
      if (bytes > bounds.bytes) return { columns, rows, cut: "bytes" }
      rows.push(row)
    }
  }
  return { columns, rows, cut: undefined }
}
