import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"

/** Any number that no other user of the database locks. */
const MIGRATION_LOCK = 7_266_421

const FOLDER = join(PROJECT_FOLDER, "migrations")
const FILE = /^(\d+)_([^.]+)\.sql$/
/** Statements of a file are parted by a line of this form: the driver takes one statement at a time. */
const SEPARATOR = /^-- ;;$/m

/** The number of the newest file. */
const newestMigration = Effect.sync(() =>
  Math.max(...readdirSync(FOLDER).flatMap((name) => Number(FILE.exec(name)?.[1] ?? 0)))
)

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

/** The newest migration that the database has seen; 0 for an empty database. */
const schemaOfDatabase = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [table] = yield* sql<{ readonly there: boolean }>`SELECT to_regclass('schema_migrations') IS NOT NULL AS there`
  if (table?.there !== true) return 0
  const [newest] = yield* sql<{ readonly id: number }>`
    SELECT coalesce(max(migration_id), 0)::int AS id FROM schema_migrations`
  return newest?.id ?? 0
})

/** Fails unless the schema is exactly the one that this program was written for. */
export const checkSchema = Effect.gen(function* () {
  const [database, program] = [yield* schemaOfDatabase, yield* newestMigration]
  if (database !== program) return yield* new SchemaMismatch({ database, program })
})

const loader = (newest: number): Migrator.Loader =>
  Effect.sync(() =>
    readdirSync(FOLDER)
      .sort()
      .flatMap((name): Array<Migrator.ResolvedMigration> => {
        const match = FILE.exec(name)
        if (match === null || Number(match[1]) > newest) return []
        const apply = Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          for (const statement of readFileSync(join(FOLDER, name), "utf8").split(SEPARATOR)) {
            if (statement.trim() !== "") yield* sql.unsafe(statement).unprepared
          }
        })
        return [[Number(match[1]), match[2] ?? "", Effect.succeed(apply)]]
      })
  )

const run = (newest: number) => Migrator.make({})({ loader: loader(newest), table: "schema_migrations" })

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
      const [database, program] = [yield* schemaOfDatabase, yield* newestMigration]
      if (database > program) return yield* new SchemaMismatch({ database, program })
      const applied = yield* run(upTo ?? program)
      for (const [id, name] of applied) yield* Effect.logInfo(`applied migration ${id} ${name}`)
      return applied
    })
  )
})
