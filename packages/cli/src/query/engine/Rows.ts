import type { DuckDBPreparedStatement } from "@duckdb/node-api"
import type { DuckDbModule } from "./Database.ts"
import type { Answer, AnswerBounds, Value } from "./Exchange.ts"
import { converterOf } from "./Values.ts"

const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** The rows of a statement, up to the bounds. */
export const answerOf = async (
  { DuckDBTypeId, JsonDuckDBValueConverter }: DuckDbModule,
  prepared: DuckDBPreparedStatement,
  bounds: AnswerBounds
): Promise<Answer> => {
  const result = await prepared.stream()
  const types = result.columnTypes()
  const columns = result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }))
  const columnBytes = jsonBytes(columns)
  if (columnBytes > bounds.bytes) throw new Error(`the columns have ${columnBytes} bytes, more than --max-bytes`)
  const convert = converterOf(JsonDuckDBValueConverter, ({ typeId }) => typeId === DuckDBTypeId.DECIMAL)
  // An object repeats the names, with a colon each.
  const nameBytes = columns.reduce((sum, { name }) => sum + jsonBytes(name) + 1, 0)
  const rows: Array<ReadonlyArray<Value>> = []
  let bytes = 0
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (let index = 0; index < chunk.rowCount; index += 1) {
      if (rows.length === bounds.rows) return { columns, rows, cut: "rows" }
      const row = chunk.convertRowValues(index, convert)
      bytes += jsonBytes(row) + nameBytes
      if (bytes > bounds.bytes) return { columns, rows, cut: "bytes" }
      rows.push(row)
    }
  }
  return { columns, rows }
}
