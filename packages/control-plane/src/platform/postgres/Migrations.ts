import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import { MIGRATION_LOCK } from "./AdvisoryLocks.ts"

/** The table of the applied migrations. */
const TABLE = "runplane_migrations"

const FOLDER = join(PROJECT_FOLDER, "migrations")
const FILE = /^(\d+)_([^.]+)\.sql$/
/** One statement of a file, up to its semicolon: the driver takes one at a time. */
const STATEMENT = /(?:--.*|'[^']*'|\$\$[\s\S]*?\$\$|[^;])+/g

/** The numbered files of `migrations/`, in their order. */
const migrationFiles = Effect.sync(() =>
  readdirSync(FOLDER)
    .sort()
    .flatMap((file) => {
      const match = FILE.exec(file)
      return match === null ? [] : [{ id: Number(match[1]), name: match[2] ?? "", file }]
    })
)

type MigrationFile = Effect.Success<typeof migrationFiles>[number]

/** The number of the newest file. */
const newestOf = (files: ReadonlyArray<MigrationFile>) => Math.max(0, ...files.map(({ id }) => id))

const hasTable = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly exists: boolean }>`SELECT to_regclass(${TABLE}) IS NOT NULL AS exists`
  return found?.exists === true
})

/** The number of the newest applied migration; 0 in a database without any. */
const newestApplied = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  if (!(yield* hasTable)) return 0
  const [newest] = yield* sql<{ readonly id: number }>`
    SELECT coalesce(max(migration_id), 0)::int AS id FROM ${sql(TABLE)}`
  return newest?.id ?? 0
})

/**
 * Creates the table of the applied migrations. The migrator would create it too, but where that fails it sends another
 * query in the aborted transaction, and reports the error of that one.
 */
const createTable = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  if (yield* hasTable) return
  yield* sql`
    CREATE TABLE ${sql(TABLE)} (
      migration_id integer PRIMARY KEY,
      created_at timestamp with time zone NOT NULL DEFAULT now(),
      name text NOT NULL
    )`.unprepared
})

/** The schema of the database is not the one of this program. */
export class SchemaMismatch extends Data.TaggedError("SchemaMismatch")<{
  readonly database: number
  readonly program: number
}> {
  override get message(): string {
    const numbers = `the schema of the database is ${this.database}, this program's is ${this.program}`
    return this.database > this.program
      ? `${numbers}: a newer Runplane has migrated it, so start that one (or restore a backup from before)`
      : `${numbers}: bring it up to date with "runplane migrate", or start with MIGRATE_ON_START=true`
  }
}

/** The role must not create tables: since PostgreSQL 15 only the owner of a database has that right in `public`. */
export class SchemaNotWritable extends Data.TaggedError("SchemaNotWritable")<{
  readonly role: string
  readonly schema: string
}> {
  override get message(): string {
    return (
      `the role "${this.role}" may not create tables in the schema "${this.schema}": the owner of the database must ` +
      `run GRANT CREATE ON SCHEMA "${this.schema}" TO "${this.role}"`
    )
  }
}

const checkGrant = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const refused = yield* sql<{ readonly role: string; readonly schema: string }>`
    SELECT current_user AS role, current_schema() AS schema WHERE NOT has_schema_privilege(current_schema(), 'CREATE')`
  for (const { role, schema } of refused) return yield* new SchemaNotWritable({ role, schema })
})

/** Fails unless the schema is exactly the one that this program was written for. */
export const checkSchema = Effect.gen(function* () {
  const files = yield* migrationFiles
  const [database, program] = [yield* newestApplied, newestOf(files)]
  if (database !== program) return yield* new SchemaMismatch({ database, program })
})

const loader = (files: ReadonlyArray<MigrationFile>): Migrator.Loader =>
  Effect.succeed(
    files.map(({ file, id, name }): Migrator.ResolvedMigration => {
      const apply = Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        for (const [statement] of readFileSync(join(FOLDER, file), "utf8").matchAll(STATEMENT)) {
          if (statement.trim() !== "") yield* sql.unsafe(statement).unprepared
        }
      })
      return [id, name, Effect.succeed(apply)]
    })
  )

const run = (files: ReadonlyArray<MigrationFile>) => Migrator.make({})({ loader: loader(files), table: TABLE })

/**
 * Refuses a schema that is newer than this program. Applies the numbered files of `migrations/` that the database does
 * not have yet, in order and in one transaction. Processes that start at the same time wait for each other on an
 * advisory lock. Returns the applied ones.
 */
export const migrate = Effect.fn("Migrations.migrate")(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      // The transaction may wait for that of another process, and rewrite large tables.
      yield* sql`SET LOCAL lock_timeout = 0`
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
      const files = yield* migrationFiles
      const [database, program] = [yield* newestApplied, newestOf(files)]
      if (database > program) return yield* new SchemaMismatch({ database, program })
      if (database < program) yield* checkGrant
      yield* createTable
      const applied = yield* run(files)
      for (const [id, name] of applied) yield* Effect.logInfo(`applied migration ${id} ${name}`)
      return applied
    })
  )
})
