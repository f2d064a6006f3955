import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"

/** Any number that no other user of the database locks. */
const MIGRATION_LOCK = 7_266_421

const FOLDER = fileURLToPath(new URL("../../../../migrations/", import.meta.url))
const FILE = /^(\d+)_([^.]+)\.sql$/
/** Statements of a file are parted by a line of this form: the driver takes one statement at a time. */
const SEPARATOR = /^-- ;;$/m

const loader: Migrator.Loader = Effect.sync(() =>
  readdirSync(FOLDER)
    .sort()
    .flatMap((name): Array<Migrator.ResolvedMigration> => {
      const match = FILE.exec(name)
      if (match === null) return []
      const apply = Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        for (const statement of readFileSync(join(FOLDER, name), "utf8").split(SEPARATOR)) {
          if (statement.trim() !== "") yield* sql.unsafe(statement).unprepared
        }
      })
      return [[Number(match[1]), match[2] ?? "", Effect.succeed(apply)]]
    })
)

const run = Migrator.make({})({ loader, table: "schema_migrations" })

/**
 * Applies the numbered files of `migrations/` that the database has not seen, in order and in one transaction.
 * Starters of several processes wait for each other on an advisory lock.
 */
export const migrate = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // It may wait for another starter, and rewrite large tables.
      yield* sql`SET LOCAL lock_timeout = 0`
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
      const applied = yield* run
      for (const [id, name] of applied) yield* Effect.logInfo(`applied migration ${id} ${name}`)
    })
  )
})
