import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { MIGRATION_LOCK } from "../AdvisoryLocks.ts"
import { describeSqlError } from "../SqlFailures.ts"
import { LONE_MIGRATIONS, liveProcesses } from "./LoneMigrations.ts"
import { firstObjects, type MigrationFile, migrationFiles, type Statement, statementsOf } from "./MigrationFiles.ts"
import { missingObjects, relationsOf, schemaObjects } from "./SchemaObjects.ts"
import {
  type Applied,
  earlierSchema,
  MigrationFailed,
  noSchema,
  notWritable,
  olderSchema,
  processesAlive,
  refusalOf,
  unrecordedSchema
} from "./SchemaState.ts"

/** The table of the applied migrations, with the hash of each file. */
export const TABLE = "runplane_migrations"

/** The characters of a statement that an error has. */
const SHOWN = 80

const refuse = <E>(refusal: E | undefined) => (refusal === undefined ? Effect.void : Effect.fail(refusal))

/** The schema with the table of the migrations; undefined without one. */
const schemaOfTable = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly schema: string }>`
    SELECT relnamespace::regnamespace::text AS schema FROM pg_class WHERE oid = to_regclass(${TABLE})`
  return found?.schema
})

/** The schema in which a CREATE TABLE makes its table. Fails without one. */
export const currentSchema = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly schema: string | null; readonly role: string; readonly path: string }>`
    SELECT current_schema()::text AS schema, current_user::text AS role, current_setting('search_path') AS path`
  const { path = "", role = "", schema = null } = found ?? {}
  if (schema !== null) return schema
  const [named] = yield* sql<{ readonly existing: string | null; readonly first: string | null }>`
    WITH named AS (
      SELECT replace(btrim(name, ' "'), '$user', ${role}) AS name, name ~ '\\$user' AS is_user, at
      FROM unnest(string_to_array(${path}, ',')) WITH ORDINALITY AS parts(name, at) WHERE btrim(name, ' "') <> ''
    )
    SELECT (SELECT name FROM named WHERE EXISTS (SELECT FROM pg_namespace WHERE nspname = name) ORDER BY at LIMIT 1)
             AS existing,
           (SELECT name FROM named ORDER BY is_user, at LIMIT 1) AS first`
  return yield* noSchema(role, path, named?.existing ?? null, named?.first ?? null)
})

const checkGrant = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const refused = yield* sql<{ readonly role: string; readonly schema: string }>`
    SELECT current_user AS role, current_schema() AS schema WHERE NOT has_schema_privilege(current_schema(), 'CREATE')`
  for (const { role, schema } of refused) return yield* notWritable(role, schema)
})

/** The rows of the table of the migrations. A table of an earlier program has no hashes. */
const rowsOfTable = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql<Applied>`
    SELECT migration_id AS id, name, to_jsonb(m)->>'hash' AS hash FROM ${sql(TABLE)} m ORDER BY migration_id`
})

/**
 * The applied migrations. Fails for a schema whose tables no migration explains: those of Runplane without a row, and
 * those of an earlier state of the first file, which stored no hash.
 */
const appliedMigrations = Effect.gen(function* () {
  const schema = yield* schemaOfTable
  const applied = schema === undefined ? [] : yield* rowsOfTable
  if (applied.length === 0) {
    const here = schema ?? (yield* currentSchema)
    const ours = new Set(relationsOf(yield* firstObjects))
    const tables = relationsOf(yield* schemaObjects(here)).filter((name) => ours.has(name))
    if (tables.length > 0) return yield* unrecordedSchema(here, TABLE, tables)
  }
  if (schema !== undefined && applied.some(({ hash, id }) => id === 1 && hash === null)) {
    const missing = missingObjects(yield* firstObjects, yield* schemaObjects(schema))
    if (missing.length > 0) return yield* earlierSchema(missing)
  }
  return applied
})

/** The migrations of a database and the schema of their tables. Fails for other files than this program's. */
export const knownMigrations = Effect.gen(function* () {
  const migrations = yield* appliedMigrations
  yield* refuse(refusalOf(yield* migrationFiles, migrations, { running: true }))
  return { migrations, schema: (yield* schemaOfTable) ?? (yield* currentSchema) }
})

/** Fails unless the schema is exactly the one that this program was written for. Changes nothing. */
export const checkSchema = Effect.gen(function* () {
  const files = yield* migrationFiles
  const applied = yield* appliedMigrations
  yield* refuse(refusalOf(files, applied))
  yield* refuse(olderSchema(files, applied))
})

/**
 * Fails when the schema is no longer the one that the program started with, because another database has taken its
 * place. A newer one is none: during an upgrade the processes of two releases work on one database.
 */
export const makeRunningCheck = Effect.gen(function* () {
  const files = yield* migrationFiles
  return Effect.gen(function* () {
    const applied = yield* rowsOfTable
    yield* refuse(refusalOf(files, applied, { running: true }))
    yield* refuse(olderSchema(files, applied))
  })
})

/** Creates the table of the applied migrations, and gives that of an earlier program its column. */
const prepareTable = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  if ((yield* schemaOfTable) === undefined) {
    yield* sql`
      CREATE TABLE ${sql(TABLE)} (
        migration_id integer PRIMARY KEY,
        created_at timestamp with time zone NOT NULL DEFAULT now(),
        name text NOT NULL,
        hash text
      )`.unprepared
    return
  }
  const [column] = yield* sql`
    SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(${TABLE}) AND attname = 'hash' AND NOT attisdropped`
  if (column === undefined) yield* sql`ALTER TABLE ${sql(TABLE)} ADD COLUMN hash text`.unprepared
})

const beginningOf = ({ text }: Statement) => {
  const line = text.replace(/^(?:\s|--.*)*/, "").replace(/\s+/g, " ")
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}...`
}

/** Runs the statements of a file, and notes it as applied. */
const apply = Effect.fnUntraced(function* ({ file, hash, id, name, text }: MigrationFile) {
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
  yield* sql`INSERT INTO ${sql(TABLE)} (migration_id, name, hash) VALUES (${id}, ${name}, ${hash})`
})

/** Processes that start at the same time wait for each other. For a transaction. */
const holdMigrations = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  // The transaction may wait for that of another process, and rewrite large tables.
  yield* sql`SET LOCAL lock_timeout = 0`
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
})

/** Stores the hash of the first file for a schema that a program without hashes made of it. */
const adopt = Effect.fnUntraced(function* (files: ReadonlyArray<MigrationFile>, applied: ReadonlyArray<Applied>) {
  const sql = yield* PgClient.PgClient
  const first = files.find(({ id }) => id === 1)
  if (first === undefined || applied.every(({ hash }) => hash !== null)) return
  yield* prepareTable
  yield* sql`UPDATE ${sql(TABLE)} SET hash = ${first.hash} WHERE migration_id = 1 AND hash IS NULL`
  yield* Effect.logInfo(`the schema of the database is the one of ${first.file}; its hash is stored`)
})

/** Makes the schema that these migrations make, in an empty database. For a transaction. */
export const createSchema = Effect.fnUntraced(function* (wanted: ReadonlyArray<Applied>) {
  yield* holdMigrations
  const files = yield* migrationFiles
  yield* refuse(refusalOf(files, wanted))
  yield* checkGrant
  yield* prepareTable
  yield* Effect.forEach(
    files.filter(({ id }) => wanted.some((row) => row.id === id)),
    apply
  )
})

/** Refuses migrations that the live processes of an earlier release cannot work on. An empty database has none. */
const refuseBesideOthers = Effect.fnUntraced(function* (
  pending: ReadonlyArray<MigrationFile>,
  applied: ReadonlyArray<Applied>
) {
  if (applied.length === 0) return
  for (const { file, id } of pending) {
    const because = LONE_MIGRATIONS.get(id)
    if (because === undefined) continue
    const processes = yield* liveProcesses
    return processes === 0 ? undefined : yield* processesAlive(file, because, processes)
  }
})

/**
 * Refuses a schema that is not of this program's migrations (docs/reference/admin.md#migrations). Applies the numbered
 * files of `migrations/` that the database does not have yet, in order and in one transaction. Returns them.
 */
export const migrate = Effect.fn("Migrations.migrate")(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* holdMigrations
      const files = yield* migrationFiles
      const applied = yield* appliedMigrations
      yield* refuse(refusalOf(files, applied))
      yield* adopt(files, applied)
      const pending = files.filter(({ id }) => applied.every((row) => row.id < id))
      if (pending.length === 0) return []
      yield* refuseBesideOthers(pending, applied)
      yield* checkGrant
      yield* prepareTable
      for (const file of pending) {
        yield* apply(file)
        yield* Effect.logInfo(`applied migration ${file.id} ${file.name}`)
      }
      return pending.map(({ id, name }) => [id, name] as const)
    })
  )
})
