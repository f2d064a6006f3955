import type { DuckDBConnection, DuckDBPreparedStatement } from "@duckdb/node-api"
import type { DuckDbModule } from "./Database.ts"

/** EXPLAIN after spaces and comments. Comments nest in DuckDB: one with another is not skipped. */
const EXPLAIN = /^(?:\s|--[^\r\n]*(?=[\r\n])|\/\*(?:(?!\/\*)[\s\S])*?\*\/)*explain(?:\s+analyze)?\b/i

/**
 * How many statements DuckDB's parser finds; undefined when one of them does not read. It serializes SELECT alone:
 * with it WITH, FROM, VALUES, TABLE, DESCRIBE, SUMMARIZE, SHOW. Neither the binder nor the planner of a statement runs,
 * which for EXPORT DATABASE write files already.
 */
const readingStatements = async (connection: DuckDBConnection, sql: string): Promise<number | undefined> => {
  const reader = await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [sql])
  const parsed: { readonly statements?: ReadonlyArray<unknown> } = JSON.parse(String(reader.getRows()[0]?.[0]))
  return parsed.statements?.length
}

/**
 * The prepared statement; undefined unless the text is one statement that only reads, or EXPLAIN of one. Fails for a
 * text that is not SQL.
 */
export const prepareReading = async (
  { StatementType }: DuckDbModule,
  connection: DuckDBConnection,
  sql: string
): Promise<DuckDBPreparedStatement | undefined> => {
  const reading = await readingStatements(connection, sql.replace(EXPLAIN, ""))
  // The parser reports the position of a fault.
  if (reading === undefined) await connection.extractStatements(sql)
  if (reading !== 1) return undefined
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1) return undefined
  const prepared = await statements.prepare(0)
  const { EXPLAIN: explain, SELECT } = StatementType
  return prepared.statementType === SELECT || prepared.statementType === explain ? prepared : undefined
}
