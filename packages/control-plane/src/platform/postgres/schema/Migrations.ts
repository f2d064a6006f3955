import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type Applied,
  applyFile,
  earlierSchema,
  holdMigrations,
  type MigrationFile,
  noSchema,
  notWritable,
  olderSchema,
  prepareTable,
  processesAlive,
  refusalOf,
  rowsOfTable,
  schemaOfTable,
  unrecordedSchema
} from "@runplane/database"
import * as Effect from "effect/Effect"
import { MIGRATION_LOCK } from "../AdvisoryLocks.ts"
import { firstObjects, migrationFiles } from "./FirstObjects.ts"
import { LONE_MIGRATIONS, liveProcesses } from "./LoneMigrations.ts"
import { missingObjects, relationsOf, schemaObjects } from "./SchemaObjects.ts"

/** The table of the applied migrations, with the hash of each file. */
export const TABLE = "runplane_migrations"

const refuse = <E>(refusal: E | undefined) => (refusal === undefined ? Effect.void : Effect.fail(refusal))

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

/**
 * The applied migrations. Fails for a schema whose tables no migration explains: those of Runplane without a row, and
 * those of an earlier state of the first file, which stored no hash.
 */
const appliedMigrations = Effect.gen(function* () {
  const schema = yield* schemaOfTable(TABLE)
  const applied = schema === undefined ? [] : yield* rowsOfTable(TABLE)
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
  return { migrations, schema: (yield* schemaOfTable(TABLE)) ?? (yield* currentSchema) }
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
    const applied = yield* rowsOfTable(TABLE)
    yield* refuse(refusalOf(files, applied, { running: true }))
    yield* refuse(olderSchema(files, applied))
  })
})

/** Stores the hash of the first file for a schema that a program without hashes made of it. */
const adopt = Effect.fnUntraced(function* (files: ReadonlyArray<MigrationFile>, applied: ReadonlyArray<Applied>) {
  const sql = yield* PgClient.PgClient
  const first = files.find(({ id }) => id === 1)
  if (first === undefined || applied.every(({ hash }) => hash !== null)) return
  yield* prepareTable(TABLE)
  yield* sql`UPDATE ${sql(TABLE)} SET hash = ${first.hash} WHERE migration_id = 1 AND hash IS NULL`
  yield* Effect.logInfo(`the schema of the database is the one of ${first.file}; its hash is stored`)
})

/** Makes the schema that these migrations make, in an empty database. For a transaction. */
export const createSchema = Effect.fnUntraced(function* (wanted: ReadonlyArray<Applied>) {
  yield* holdMigrations(MIGRATION_LOCK)
  const files = yield* migrationFiles
  yield* refuse(refusalOf(files, wanted))
  yield* checkGrant
  yield* prepareTable(TABLE)
  yield* Effect.forEach(
    files.filter(({ id }) => wanted.some((row) => row.id === id)),
    (file) => applyFile(TABLE, file)
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
      yield* holdMigrations(MIGRATION_LOCK)
      const files = yield* migrationFiles
      const applied = yield* appliedMigrations
      yield* refuse(refusalOf(files, applied))
      yield* adopt(files, applied)
      const pending = files.filter(({ id }) => applied.every((row) => row.id < id))
      if (pending.length === 0) return []
      yield* refuseBesideOthers(pending, applied)
      yield* checkGrant
      yield* prepareTable(TABLE)
      for (const file of pending) {
        yield* applyFile(TABLE, file)
        yield* Effect.logInfo(`applied migration ${file.id} ${file.name}`)
      }
      return pending.map(({ id, name }) => [id, name] as const)
    })
  )
})
