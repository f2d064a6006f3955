import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import { SchemaRefused } from "@runplane/database"
import { temporaryFolder } from "@runplane/postgres"
import { createDatabase } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { BackupFailed } from "../../../../src/platform/postgres/backup/BackupFile.ts"
import { backupDatabase, migrateDatabase, restoreDatabase } from "../../../../src/platform/postgres/Database.ts"
import { createMigratedDatabase } from "../../../support/TestDatabase.ts"

const progress = () => Effect.void
const quiet = { progress }
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
const texts = (url: string, statement: string) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return (yield* sql.unsafe<{ readonly text: string }>(statement).unprepared).map(({ text }) => text)
    })
  )

/** The objects of a schema that a restore takes apart and puts together again. */
const objects = (url: string) =>
  texts(
    url,
    `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND conrelid <> 0
     UNION ALL SELECT tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
     ORDER BY 1`
  )

/** Every row of every logged table, and every sequence, as text. */
const content = Effect.fnUntraced(function* (url: string) {
  const reads = yield* texts(
    url,
    `SELECT CASE relkind WHEN 'r' THEN format('SELECT (t.*)::text AS text FROM %s t ORDER BY 1', oid::regclass)
            ELSE format('SELECT last_value || '' '' || is_called AS text FROM %s', oid::regclass) END AS text
     FROM pg_class WHERE relnamespace = 'public'::regnamespace
     AND (relkind = 'r' AND relpersistence = 'p' OR relkind = 'S') ORDER BY 1`
  )
  const rows = yield* Effect.forEach(reads, (read) => Effect.map(texts(url, read), (found) => [read, found] as const))
  return new Map(rows)
})

const RUN = "00000000-0000-4000-8000-000000000001"
const OTHER = "00000000-0000-4000-8000-000000000002"

/** A database with values of every kind, odd ones too, and rows that point at rows which come later. */
const filled = Effect.gen(function* () {
  const url = yield* createMigratedDatabase
  yield* run(
    url,
    `INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, search_text,
       created_at, updated_at, metadata, tags)
     SELECT id::uuid, 'running', 'live', 'm', 'r', id, 't', 's', '', '2026-01-02 03:04:05.678901+00', '0001-01-01 00:00:00+00 BC',
       '{"a":  1.0, "text": "\\u00e9 \\n 🙂", "big": 12345678901234567890.10}'::json, ARRAY['a,b', '"', '', 'null', E'\\\\']
     FROM unnest(ARRAY['${RUN}', '${OTHER}']) AS id`,
    "SELECT setval('event_seq', 9007199254740993, true)",
    'CREATE TABLE odd (b bytea, j jsonb, t timestamptz, n numeric, f float8, i bigint, a text[], s text, "q""x" interval, d date)',
    `INSERT INTO odd VALUES ('\\x00ff10', '{"b": [1.50, null], "a": "x"}', '2026-01-02 03:04:05.678901+00', 1e400,
       0.1::float8 + 0.2, 9223372036854775807, ARRAY[NULL, 'NULL', '', E'a\\nb\\r\\u2028'], E'tab\\t {} [ "', '1 mon -2 days 03:04:05.5', 'infinity'),
       (NULL, NULL, '-infinity', 'NaN', 'NaN', NULL, NULL, '', NULL, NULL),
       (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`
  )
  return url
})

describe("a backup", () => {
  layer(NodeFileSystem.layer, { excludeTestServices: true })((it) => {
    it.effect("restores every value, sequence, key and trigger exactly", () =>
      Effect.gen(function* () {
        const url = yield* filled
        yield* run(url, "DROP TABLE odd")
        const file = join(yield* temporaryFolder, "whole")
        const written = yield* backupDatabase({ url }, { file, ...quiet })
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        assert.strictEqual(statSync(file).size, written.bytes)
        assert.isFalse(written.hasPeople)
        const target = yield* createDatabase
        const restored = yield* restoreDatabase({ url: target }, { file, ...quiet })
        assert.deepStrictEqual([restored.tables, restored.rows], [written.tables, written.rows])
        assert.deepStrictEqual(restored.leftOut, [])
        assert.deepStrictEqual(yield* content(target), yield* content(url))
        assert.deepStrictEqual(yield* objects(target), yield* objects(url))
        assert.deepStrictEqual(yield* migrateDatabase({ url: target }), [])
        assert.deepStrictEqual(yield* texts(target, "SELECT nextval('event_seq')::text AS text"), ["9007199254740994"])
      })
    )

    it.effect("says that it does not have the schema of the launch service", () =>
      Effect.gen(function* () {
        const url = yield* createMigratedDatabase
        yield* run(url, "CREATE SCHEMA people", "CREATE TABLE people.migrations (migration_id integer PRIMARY KEY)")
        const file = join(yield* temporaryFolder, "without-people")
        const { hasPeople } = yield* backupDatabase({ url }, { file, ...quiet })
        assert.isTrue(hasPeople)
        assert.notInclude(gunzipSync(readFileSync(file)).toString(), "people.")
      })
    )

    it.effect("holds values of every type exactly, and says what a restore leaves out", () =>
      Effect.gen(function* () {
        const url = yield* filled
        yield* run(url, "ALTER TABLE runs ADD COLUMN of_an_operator text DEFAULT 'x'", "CREATE SEQUENCE of_another")
        const file = join(yield* temporaryFolder, "odd")
        yield* backupDatabase({ url }, { file, ...quiet })
        const target = yield* createDatabase
        const restored = yield* restoreDatabase({ url: target }, { file, ...quiet })
        assert.sameMembers([...restored.leftOut], ["odd", "runs.of_an_operator", "of_another"])
        // The rows are PostgreSQL's own texts: reading them with the column's type gives the same values.
        const rows = gunzipSync(readFileSync(file)).toString().split('{"table":"odd"')[1]?.split("\n").slice(1, 4) ?? []
        yield* run(url, "CREATE TABLE again (LIKE odd)")
        for (const row of rows) {
          yield* on(
            url,
            Effect.flatMap(
              PgClient.PgClient,
              (sql) => sql`
              INSERT INTO again SELECT t[1]::bytea, t[2]::jsonb, t[3]::timestamptz, t[4]::numeric, t[5]::float8,
                t[6]::bigint, t[7]::text[], t[8], t[9]::interval, t[10]::date
              FROM (SELECT ARRAY(SELECT value FROM json_array_elements_text(${row}::text::json)) AS t) AS r`
            )
          )
        }
        const all = (table: string) => texts(url, `SELECT (t.*)::text AS text FROM ${table} t`)
        assert.lengthOf(rows, 3)
        assert.deepStrictEqual(yield* all("again"), yield* all("odd"))
      })
    )

    it.effect("is of one moment, while other sessions write and no migration begins", () =>
      Effect.gen(function* () {
        const url = yield* createMigratedDatabase
        yield* run(url, "INSERT INTO deleted_sessions VALUES ('first', now())")
        const file = join(yield* temporaryFolder, "moment")
        let written = false
        yield* backupDatabase(
          { url },
          {
            file,
            progress: ({ table }) =>
              Effect.gen(function* () {
                if (written || table >= "deleted_sessions") return
                written = true
                yield* Effect.orDie(run(url, "INSERT INTO deleted_sessions VALUES ('later', now())"))
              })
          }
        )
        assert.isTrue(written)
        const target = yield* createDatabase
        yield* restoreDatabase({ url: target }, { file, ...quiet })
        const sessions = yield* texts(target, "SELECT (t.*)::text AS text FROM deleted_sessions t")
        assert.lengthOf(sessions, 1)
        assert.include(sessions[0], "first")
      })
    )

    it.effect("leaves no file when it fails or is interrupted, and overwrites none", () =>
      Effect.gen(function* () {
        const url = yield* createMigratedDatabase
        const folder = yield* temporaryFolder
        const file = join(folder, "interrupted")
        const begun = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          backupDatabase(
            { url },
            { file, progress: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) }
          )
        )
        yield* Deferred.await(begun)
        assert.deepStrictEqual(readdirSync(folder), ["interrupted.part"])
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(readdirSync(folder), [])

        writeFileSync(file, "mine")
        const refused = yield* Effect.flip(backupDatabase({ url }, { file, ...quiet }))
        assert.match(refused.message, /interrupted exists already/)
        assert.strictEqual(readFileSync(file, "utf8"), "mine")
        const nowhere = yield* Effect.flip(backupDatabase({ url }, { file: join(folder, "none", "f"), ...quiet }))
        assert.match(nowhere.message, /cannot be written: its folder does not exist/)
      })
    )

    it.effect("is refused for a database without our schema, or with another one", () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const empty = yield* Effect.flip(
          backupDatabase({ url: yield* createDatabase }, { file: join(folder, "a"), ...quiet })
        )
        assert.match(empty.message, /has no schema of Runplane/)
        const other = yield* createMigratedDatabase
        yield* run(other, "UPDATE runplane_migrations SET hash = 'x'")
        assert.instanceOf(
          yield* Effect.flip(backupDatabase({ url: other }, { file: join(folder, "b"), ...quiet })),
          SchemaRefused
        )
        assert.deepStrictEqual(readdirSync(folder), [])
      })
    )
  })
})

describe("a restore", () => {
  layer(NodeFileSystem.layer, { excludeTestServices: true })((it) => {
    it.effect("refuses a database that is not empty, and changes nothing in it", () =>
      Effect.gen(function* () {
        const url = yield* createMigratedDatabase
        const file = join(yield* temporaryFolder, "file")
        yield* backupDatabase({ url }, { file, ...quiet })
        const foreign = yield* createDatabase
        yield* run(foreign, "CREATE TABLE invoices (id integer)")
        for (const [target, name] of [
          [url, "alert_amounts"],
          [foreign, "invoices"]
        ] as const) {
          const refused = yield* Effect.flip(restoreDatabase({ url: target }, { file, ...quiet }))
          assert.instanceOf(refused, BackupFailed)
          assert.include(refused.message, `the schema "public" of the database is not empty: it has ${name};`)
        }
      })
    )

    it.effect("restores nothing of a file that is cut, damaged, forged or something else", () =>
      Effect.gen(function* () {
        const url = yield* filled
        const folder = yield* temporaryFolder
        const file = join(folder, "whole")
        yield* backupDatabase({ url }, { file, ...quiet })
        const bytes = readFileSync(file)
        const lines = gunzipSync(bytes).toString().trimEnd().split("\n")
        const rows = lines.findIndex((line) => line.startsWith("["))
        const without = (from: number, to: number) => gzipSync(`${lines.toSpliced(from, to - from).join("\n")}\n`)
        const damaged: Record<string, readonly [Uint8Array | string, RegExp]> = {
          cut: [bytes.subarray(0, bytes.length - 100), /not a whole backup of Runplane: unexpected end of file/],
          headless: [without(0, 1), /it has no head of a backup/],
          endless: [without(lines.length - 1, lines.length), /its end is missing/],
          "of fewer rows": [without(rows, rows + 1), /has \d+ rows instead of \d+/],
          forged: [gzipSync(`${lines.join("\n").replace('"running"', '"completed"')}\n`), /its checksum does not fit/],
          longer: [gzipSync(`${lines.join("\n")}\n[]\n`), /it has more after its end/],
          "of tomorrow": [
            gzipSync(`${[lines[0]?.replace('"format":1', '"format":2'), ...lines.slice(1)].join("\n")}\n`),
            /has format 2, this program reads 1/
          ],
          text: ["hello", /not a whole backup of Runplane: incorrect header check/]
        }
        const target = yield* createDatabase
        for (const [name, [content, words]] of Object.entries(damaged)) {
          writeFileSync(join(folder, name), content)
          const refused = yield* Effect.flip(restoreDatabase({ url: target }, { file: join(folder, name), ...quiet }))
          assert.instanceOf(refused, BackupFailed, name)
          assert.match(refused.message, words, name)
        }
        const missing = yield* Effect.flip(restoreDatabase({ url: target }, { file: join(folder, "no"), ...quiet }))
        assert.match(missing.message, /cannot be read: it does not exist/)
        // Nothing is left in it, so the whole file still fits.
        yield* restoreDatabase({ url: target }, { file, ...quiet })
        assert.isTrue(existsSync(file))
      })
    )
  })
})
