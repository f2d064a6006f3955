import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import { MIGRATION_TABLE, type MigrationName, newestApplied, prepareMigrationTable } from "./MigrationTable.ts"

/** Any number that no other user of the database locks. */
const MIGRATION_LOCK = 7_266_421

const FOLDER = join(PROJECT_FOLDER, "migrations")
const FILE = /^(\d+)_([^.]+)\.sql$/
/** Statements of a file are parted by a line of this form: the driver takes one statement at a time. */
const SEPARATOR = /^-- ;;$/m

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

const namesOf = (files: ReadonlyArray<MigrationFile>) => files.map(({ id, name }): MigrationName => [id, name])

/** The number of the newest file. */
const newestOf = (files: ReadonlyArray<MigrationFile>) => Math.max(0, ...files.map(({ id }) => id))

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

/** The role may not create tables: since PostgreSQL 15 only the owner of a database may do that in `public`. */
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
  const [database, program] = [yield* newestApplied(namesOf(files)), newestOf(files)]
  if (database !== program) return yield* new SchemaMismatch({ database, program })
})

const loader = (files: ReadonlyArray<MigrationFile>): Migrator.Loader =>
  Effect.succeed(
    files.map(({ file, id, name }): Migrator.ResolvedMigration => {
      const apply = Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        for (const statement of readFileSync(join(FOLDER, file), "utf8").split(SEPARATOR)) {
          if (statement.trim() !== "") yield* sql.unsafe(statement).unprepared
        }
      })
      return [id, name, Effect.succeed(apply)]
    })
  )

const run = (files: ReadonlyArray<MigrationFile>) =>
  Migrator.make({})({ loader: loader(files), table: MIGRATION_TABLE })

/**
 * Refuses a schema that is newer than this program. Applies the numbered files of `migrations/` that the database has
 * not seen, in order and in one transaction.
 * Starters of several processes wait for each other on an advisory lock. `upTo` stops at the schema of an earlier
 * release.
 */
export const migrate = Effect.fn("Migrations.migrate")(function* (upTo?: number) {
  const sql = yield* PgClient.PgClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      // It may wait for another starter, and rewrite large tables.
      yield* sql`SET LOCAL lock_timeout = 0`
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
      const files = yield* migrationFiles
      const [database, program] = [yield* newestApplied(namesOf(files)), newestOf(files)]
      if (database > program) return yield* new SchemaMismatch({ database, program })
      if (database < program) yield* checkGrant
      yield* prepareMigrationTable(namesOf(files))
      const applied = yield* run(files.filter(({ id }) => id <= (upTo ?? program)))
      for (const [id, name] of applied) yield* Effect.logInfo(`applied migration ${id} ${name}`)
      return applied
    })
  )
})
