import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { DatabaseUnavailable, MigrationFailed, SchemaRefused, statementsOf } from "@runplane/database"
import { createDatabase } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { PRESENCE_LOCKS } from "../../../../src/platform/postgres/AdvisoryLocks.ts"
import { layerDatabase, migrateDatabase } from "../../../../src/platform/postgres/Database.ts"
import { firstObjects, migrationFiles } from "../../../../src/platform/postgres/schema/FirstObjects.ts"
import { LONE_MIGRATIONS } from "../../../../src/platform/postgres/schema/LoneMigrations.ts"
import { schemaObjects } from "../../../../src/platform/postgres/schema/SchemaObjects.ts"
import { WriteCheck } from "../../../../src/platform/postgres/WriteCheck.ts"

const bringUpToDate = (url: string) => migrateDatabase({ url, maxConnections: 1 })
const database = (url: string, migrateOnStart: boolean) => layerDatabase({ url, maxConnections: 1, migrateOnStart })
const start = (url: string, migrateOnStart: boolean) => Effect.scoped(Layer.build(database(url, migrateOnStart)))
const on = <A, E>(url: string, effect: Effect.Effect<A, E, PgClient.PgClient>) =>
  Effect.provide(effect, Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
const run = (url: string, ...statements: ReadonlyArray<string>) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      for (const statement of statements) yield* sql.unsafe(statement).unprepared
    })
  )
const rowsOf = (url: string, table: string) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return yield* sql`SELECT * FROM ${sql(table)}`
    })
  )
const objectsOf = (url: string) => on(url, schemaObjects("public"))

/** A database as a program made it that had the first file only, and stored no hash. */
const databaseOfFirst = (...changes: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const url = yield* createDatabase
    const [first] = yield* migrationFiles
    yield* run(
      url,
      ...statementsOf(first?.text ?? "").map(({ text }) => text),
      "CREATE TABLE runplane_migrations (migration_id integer PRIMARY KEY, created_at timestamptz DEFAULT now(), name text NOT NULL)",
      "INSERT INTO runplane_migrations (migration_id, name) VALUES (1, 'schema')",
      ...changes
    )
    return url
  })

/** How both kinds of start, and the command, refuse the database: with the same line. */
const refusedBy = (url: string) =>
  Effect.gen(function* () {
    const before = yield* objectsOf(url)
    const started = yield* Effect.flip(start(url, true))
    for (const failed of [started, yield* Effect.flip(start(url, false)), yield* Effect.flip(bringUpToDate(url))]) {
      assert.instanceOf(failed, SchemaRefused)
      assert.strictEqual(failed.message, started.message)
      assert.notMatch(failed.message, /\n|database unavailable/)
    }
    assert.deepStrictEqual(yield* objectsOf(url), before)
    return started.message
  })

describe("the migrations of a database", () => {
  it.live("are stored with the hash of each file, and compared at every start", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      const files = yield* migrationFiles
      assert.match(
        (yield* Effect.flip(start(url, false))).message,
        /the database is 0, this program's is \d+: bring it up to date with "runplane migrate"/
      )
      assert.lengthOf(yield* bringUpToDate(url), files.length)
      assert.deepStrictEqual(yield* bringUpToDate(url), [])
      yield* start(url, false)
      const stored = yield* on(
        url,
        Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT hash FROM runplane_migrations ORDER BY migration_id`)
      )
      assert.deepStrictEqual(
        stored,
        files.map(({ hash }) => ({ hash }))
      )
      yield* run(url, "UPDATE runplane_migrations SET hash = repeat('0', 64) WHERE migration_id = 1")
      assert.match(yield* refusedBy(url), /^migration 1 of the database is another file than .*0001_schema\.sql/)
    })
  )

  it.live("are applied once by processes that start at the same time", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      const applied = yield* Effect.all([bringUpToDate(url), bringUpToDate(url), bringUpToDate(url)], {
        concurrency: "unbounded"
      })
      assert.lengthOf(applied.flat(), (yield* migrationFiles).length)
    })
  )

  it.live("of a newer program are refused", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      yield* bringUpToDate(url)
      yield* run(url, "INSERT INTO runplane_migrations (migration_id, name) VALUES (9999, 'of_tomorrow')")
      assert.match(yield* refusedBy(url), /the database is 9999, this program's is \d+: a newer Runplane/)
    })
  )

  it.live("leave the schema_migrations of another program alone", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      yield* run(
        url,
        "CREATE TABLE schema_migrations (version text PRIMARY KEY)",
        "INSERT INTO schema_migrations VALUES ('20240101')"
      )
      const before = yield* rowsOf(url, "schema_migrations")
      assert.isAbove((yield* bringUpToDate(url)).length, 0)
      assert.deepStrictEqual(yield* rowsOf(url, "schema_migrations"), before)
    })
  )
})

describe("a database without hashes", () => {
  it.live("has exactly the listed objects of the first file", () =>
    Effect.gen(function* () {
      const url = yield* databaseOfFirst("DROP TABLE runplane_migrations")
      assert.deepStrictEqual(yield* objectsOf(url), yield* firstObjects)
    })
  )

  it.live("is continued when its objects are those of the first file, with what an operator added", () =>
    Effect.gen(function* () {
      const url = yield* databaseOfFirst(
        "CREATE INDEX runs_of_an_operator ON runs (policy_version)",
        "CREATE VIEW report AS SELECT count(*) FROM runs"
      )
      yield* bringUpToDate(url)
      const files = yield* migrationFiles
      assert.deepStrictEqual(
        (yield* rowsOf(url, "runplane_migrations")).map(({ hash }) => hash),
        files.map(({ hash }) => hash)
      )
      yield* start(url, false)
      assert.deepStrictEqual(yield* bringUpToDate(url), [])
    })
  )

  it.live("is refused when an earlier state of the first file made it, with what it lacks", () =>
    Effect.gen(function* () {
      const url = yield* databaseOfFirst("DROP TABLE pending_receipts")
      assert.strictEqual(
        yield* refusedBy(url),
        "the schema of the database is of an earlier state of Runplane, from which no migration leads here (it lacks " +
          "relation pending_receipts): export its runs with the program that made it, and name another database in " +
          "DATABASE_URL"
      )
      const column = yield* databaseOfFirst("ALTER TABLE archive_runs DROP COLUMN session_id")
      assert.match(
        yield* refusedBy(column),
        /it lacks column archive_runs\.session_id [a-z]+.*, index archive_runs_session_id\)/
      )
    })
  )
})

describe("a migration that processes of earlier releases cannot work on", () => {
  it.live("waits until they have ended, and names their number", () =>
    Effect.gen(function* () {
      const url = yield* databaseOfFirst()
      const before = yield* objectsOf(url)
      const line = (processes: string) =>
        "migration 0016_ports_of_features.sql needs all processes of earlier releases to have ended, because their " +
        `changes of marks, claims and deletions would reach neither the alerts nor the archive: ${processes}, and start again`
      const lock = (processNumber: number) =>
        Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT pg_advisory_lock(${PRESENCE_LOCKS}, ${processNumber})`)
      yield* on(
        url,
        Effect.gen(function* () {
          yield* lock(1)
          assert.strictEqual((yield* Effect.flip(start(url, true))).message, line("1 process is alive, so end it"))
          yield* lock(2)
          const refused = yield* Effect.flip(bringUpToDate(url))
          assert.instanceOf(refused, SchemaRefused)
          assert.strictEqual(refused.message, line("2 processes are alive, so end them"))
          assert.deepStrictEqual(yield* objectsOf(url), before)
        })
      )
      // Their connections are closed, so their locks are gone.
      assert.isAbove((yield* bringUpToDate(url)).length, 0)
    })
  )

  it("is a migration that exists", () =>
    Effect.gen(function* () {
      const ids = (yield* migrationFiles).map(({ id }) => id)
      assert.includeMembers(ids, [...LONE_MIGRATIONS.keys()])
    }).pipe(Effect.runPromise))
})

describe("a database with tables of Runplane and no migration that made them", () => {
  it.live("is not empty, whether the table of the migrations is missing, empty or has another name", () =>
    Effect.gen(function* () {
      for (const change of [
        "DROP TABLE runplane_migrations",
        "DELETE FROM runplane_migrations",
        "ALTER TABLE runplane_migrations RENAME TO schema_migrations"
      ]) {
        assert.match(
          yield* refusedBy(yield* databaseOfFirst(change)),
          /^the schema "public" is not empty: it has tables of Runplane \(.*, .*, .* and \d+ more\), but runplane_migrations does not name a migration.*: restore the whole backup, or name another database in DATABASE_URL$/
        )
      }
    })
  )
})

describe("the readiness of a database", () => {
  const check = Effect.flatMap(WriteCheck, (isUsable) => Effect.exit(isUsable))

  it.live("ends when another schema replaces it, and not with the schema of the next release", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        assert.strictEqual((yield* check)._tag, "Success")
        yield* sql`INSERT INTO runplane_migrations (migration_id, name, hash) VALUES (9999, 'of_tomorrow', 'x')`
        assert.strictEqual((yield* check)._tag, "Success")
        yield* sql`UPDATE runplane_migrations SET hash = 'y' WHERE migration_id = 1`
        assert.include(String(yield* check), "another file")
        yield* sql`DELETE FROM runplane_migrations`
        assert.include(String(yield* check), "the database is 0")
        yield* sql`DROP TABLE runplane_migrations`
        assert.strictEqual((yield* check)._tag, "Failure")
      }).pipe(Effect.provide(database(url, true)))
    })
  )
})

describe("a migration that the database refuses", () => {
  const prepared = (statements: (role: string, database: string) => ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const address = new URL(yield* createDatabase)
      const role = `role_${address.pathname.slice(1)}`
      yield* run(
        address.href,
        `CREATE ROLE ${role} LOGIN PASSWORD 'geheim'`,
        ...statements(role, address.pathname.slice(1))
      )
      address.username = role
      address.password = "geheim"
      return { url: address.href, role }
    })
  const refusal = (url: string) => Effect.flip(bringUpToDate(url))

  it.live("names the grant that is missing", () =>
    Effect.gen(function* () {
      const { role, url } = yield* prepared(() => ["REVOKE CREATE ON SCHEMA public FROM PUBLIC"])
      assert.strictEqual(
        (yield* refusal(url)).message,
        `the role "${role}" may not create tables in the schema "public": the owner of the database must run ` +
          `GRANT CREATE ON SCHEMA "public" TO "${role}"`
      )
    })
  )

  it.live("names the remedy of a search_path without a schema", () =>
    Effect.gen(function* () {
      const absent = yield* prepared((role) => [`ALTER ROLE ${role} SET search_path = runplane, "$user"`])
      for (const failed of [yield* refusal(absent.url), yield* Effect.flip(start(absent.url, false))]) {
        assert.strictEqual(
          failed.message,
          `the search_path (runplane, "$user") of the role "${absent.role}" has no schema that exists: the owner of ` +
            `the database must run CREATE SCHEMA "runplane" AUTHORIZATION "${absent.role}", or set another search_path`
        )
      }
      const closed = yield* prepared((role) => [
        "CREATE SCHEMA runplane",
        `ALTER ROLE ${role} SET search_path = runplane`
      ])
      assert.include(
        (yield* refusal(closed.url)).message,
        `has no schema that it may use: the owner of the database must run GRANT USAGE, CREATE ON SCHEMA "runplane" TO "${closed.role}"`
      )
    })
  )

  it.live("is named with its file, its line, its statement and the server's message", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      yield* run(url, "CREATE TYPE run_heads AS (id integer)")
      const failed = yield* refusal(url)
      assert.instanceOf(failed, MigrationFailed)
      assert.match(
        failed.message,
        /^migration 0001_schema\.sql failed at line \d+ \(CREATE TABLE run_heads \(.*\.\.\.\): .*"run_heads" already exists; the schema is as it was before$/
      )
      assert.deepStrictEqual(yield* objectsOf(url), [])
    })
  )

  it.live("is not confused with a table of the migrations that the role may not read", () =>
    Effect.gen(function* () {
      const { url } = yield* prepared((role) => [
        `GRANT CREATE ON SCHEMA public TO ${role}`,
        "CREATE TABLE runplane_migrations (migration_id integer, name text)"
      ])
      const failed = yield* refusal(url)
      assert.instanceOf(failed, DatabaseUnavailable)
      assert.strictEqual(failed.message, "database unavailable: permission denied for table runplane_migrations")
    })
  )
})
