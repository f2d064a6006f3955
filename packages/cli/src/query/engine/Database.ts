import type { DuckDBConnection } from "@duckdb/node-api"
import type { EngineRequest } from "./Exchange.ts"

export type DuckDbModule = typeof import("@duckdb/node-api")

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * An empty database in memory with the views of a request. From then on it reads the files of the views and no other,
 * loads no extension, opens no address, and keeps its settings. It may still write to the temporary folder and to
 * these files, so `Statement.ts` accepts reading statements alone.
 */
export const openDatabase = async (
  { DuckDBInstance }: DuckDbModule,
  { disk, files, memory, spill, views }: EngineRequest
): Promise<DuckDBConnection> => {
  const instance = await DuckDBInstance.create(":memory:", {
    errors_as_json: "true",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    memory_limit: `${memory}B`
  })
  const connection = await instance.connect()
  const settings = [
    // Given with the instance, DuckDB shows this bound and does not hold it.
    `SET temp_directory = ${literal(spill)}`,
    `SET max_temp_directory_size = '${disk}B'`,
    // Days and weeks are those of UTC, as the directories of the archive are.
    "SET TimeZone = 'UTC'",
    // A view, and then the statement, read the footer of each file.
    "SET parquet_metadata_cache = true"
  ]
  const sandbox = [
    `SET allowed_paths = [${files.map(literal).join(", ")}]`,
    "SET enable_external_access = false",
    "SET lock_configuration = true"
  ]
  for (const statement of [...settings, ...views, ...sandbox]) await connection.run(statement)
  return connection
}
