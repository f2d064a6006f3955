import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type MigrationFile, readMigrationFiles, type Statement, statementsOf } from "./MigrationFiles.ts"
import { type Applied, MigrationFailed, refusalOf } from "./SchemaState.ts"
import { describeSqlError } from "./SqlFailures.ts"

/** The characters of a statement that an error has. */
const SHOWN = 80

/** The schema with a table of applied migrations; undefined without one. */
export const schemaOfTable = Effect.fnUntraced(function* (table: string) {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly schema: string }>`
    SELECT relnamespace::regnamespace::text AS schema FROM pg_class WHERE oid = to_regclass(${table})`
  return found?.schema
})

/** The rows of the table. A table of an earlier program has no hashes. */
export const rowsOfTable = Effect.fnUntraced(function* (table: string) {
  const sql = yield* PgClient.PgClient
  return yield* sql<Applied>`
    SELECT migration_id AS id, name, to_jsonb(m)->>'hash' AS hash FROM ${sql(table)} m ORDER BY migration_id`
})

/** Creates the table of the applied migrations, and gives that of an earlier program its column. */
export const prepareTable = Effect.fnUntraced(function* (table: string) {
  const sql = yield* PgClient.PgClient
  if ((yield* schemaOfTable(table)) === undefined) {
    yield* sql`
      CREATE TABLE ${sql(table)} (
        migration_id integer PRIMARY KEY,
        created_at timestamp with time zone NOT NULL DEFAULT now(),
        name text NOT NULL,
        hash text
      )`.unprepared
    return
  }
  const [column] = yield* sql`
    SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(${table}) AND attname = 'hash' AND NOT attisdropped`
  if (column === undefined) yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN hash text`.unprepared
})

const beginningOf = ({ text }: Statement) => {
  const line = text.replace(/^(?:\s|--.*)*/, "").replace(/\s+/g, " ")
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}...`
}

/** Runs the statements of a file, and notes it as applied. */
export const applyFile = Effect.fnUntraced(function* (table: string, { file, hash, id, name, text }: MigrationFile) {
  const sql = yield* PgClient.PgClient
  for (const statement of statementsOf(text)) {
    yield* sql.unsafe(statement.text).unprepared.pipe(
      Effect.mapError(
        (error) =>
          new MigrationFailed({
            ...{ file, line: statement.line, statement: beginningOf(statement) },
            reason: describeSqlError(error)
          })
      )
    )
  }
  yield* sql`INSERT INTO ${sql(table)} (migration_id, name, hash) VALUES (${id}, ${name}, ${hash})`
})

/** Processes that start at the same time wait for each other. For a transaction. */
export const holdMigrations = Effect.fnUntraced(function* (lock: number) {
  const sql = yield* PgClient.PgClient
  // The transaction may wait for that of another process, and rewrite large tables.
  yield* sql`SET LOCAL lock_timeout = 0`
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`SELECT pg_advisory_xact_lock(${lock})`
})

/** The migrations of a service whose tables are in a schema of their own. */
export interface OwnSchema {
  readonly schema: string
  /** The folder of the numbered files, whose statements name the schema. */
  readonly folder: string
  /** The advisory lock of processes that migrate. */
  readonly lock: number
  /** The setting with the address of the database, for refusals. */
  readonly setting: string
}

/**
 * Applies the files that the schema does not have yet, in order and in one transaction; creates the schema when it is
 * new. Fails for a schema of other files than these. Returns the applied ones.
 */
export const applyMigrations = ({ folder, lock, schema, setting }: OwnSchema) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const table = `${schema}.migrations`
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* holdMigrations(lock)
        const files = yield* readMigrationFiles(folder)
        const isNew = (yield* schemaOfTable(table)) === undefined
        const applied = isNew ? [] : yield* rowsOfTable(table)
        const refusal = refusalOf(files, applied, { setting })
        if (refusal !== undefined) return yield* refusal
        if (isNew) {
          yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`.unprepared
          yield* prepareTable(table)
        }
        const pending = files.filter(({ id }) => applied.every((row) => row.id < id))
        for (const file of pending) {
          yield* applyFile(table, file)
          yield* Effect.logInfo(`applied migration ${file.id} ${file.name} of the schema ${schema}`)
        }
        return pending.map(({ id, name }) => [id, name] as const)
      })
    )
  })
