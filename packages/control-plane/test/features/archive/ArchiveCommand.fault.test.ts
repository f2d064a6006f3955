import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import { createDatabase, programFile, startProgram, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { checkArchive, temporaryFolder } from "./Archives.ts"

const RUNPLANE = fileURLToPath(new URL("../../../../stack/src/runplane/main.ts", import.meta.url))

class Stage extends Context.Service<Stage, { readonly url: string; readonly folder: string }>()("test/Stage") {}

/** A service on a database; with `isArchiving` it archives into the folder by itself. */
const service = (isArchiving: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const stage = { url: yield* createDatabase, folder: yield* temporaryFolder }
      const settings = isArchiving ? { ARCHIVE_URL: `file://${stage.folder}`, ARCHIVE_INTERVAL_MS: "1000" } : {}
      const database = layerDatabase({ url: stage.url, maxConnections: 6 }).pipe(Layer.orDie)
      return layerTestService({ settings, database }).pipe(Layer.provideMerge(Layer.succeed(Stage, stage)))
    })
  )

const start = Effect.fnUntraced(function* (args: ReadonlyArray<string>, changes: Readonly<Record<string, string>>) {
  const { folder, url } = yield* Stage
  const { env, main } = programFile("runplane", RUNPLANE)
  return yield* startProgram(main, {
    args,
    env: {
      ...{ PATH: process.env["PATH"] ?? "", NODE_ENV: "development", ...env, DATABASE_URL: url },
      ...{ ARCHIVE_URL: `file://${folder}`, ...changes }
    }
  })
})

const ended = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  changes: Readonly<Record<string, string>> = {}
) {
  return yield* Effect.flatMap(start(args, changes), ({ ended }) => ended)
}, Effect.scoped)

/** The one line of a command that fails. */
const refusal = Effect.fnUntraced(function* (changes: Readonly<Record<string, string>>, command = ["archive"]) {
  const { code, stderr, stdout } = yield* ended(command, changes)
  assert.strictEqual(code, 1, stderr.join("\n"))
  assert.deepStrictEqual(stdout, [])
  assert.lengthOf(stderr, 1, stderr.join("\n"))
  return stderr[0] ?? ""
})

const succeeds = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  changes: Readonly<Record<string, string>> = {}
) {
  const { code, stderr, stdout } = yield* ended(args, changes)
  assert.deepStrictEqual([code, stderr], [0, []])
  return stdout.join("\n")
})

/** Copies of the events in the log, so many that a pass of small files takes a while. */
const manyEvents = Effect.fnUntraced(function* (copies: number) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO canonical_events
    SELECT (SELECT max(seq) FROM canonical_events) * n + seq, run_id, index, ts, type, event
    FROM canonical_events, generate_series(1, ${copies}) AS n`
  yield* sql`SELECT setval('event_seq', (SELECT max(seq) FROM canonical_events))`
})

layer(service(false), { excludeTestServices: true })("runplane archive", (it) => {
  it.effect("writes everything once, and says when there is nothing to do", () =>
    Effect.gen(function* () {
      const { folder } = yield* Stage
      yield* endedRun
      yield* appendMessages(yield* createRun(), 20, 5)
      assert.match(yield* succeeds(["archive"]), /^wrote 24 rows to 3 files, \d+ bytes$/)
      assert.strictEqual(yield* succeeds(["archive"]), "the archive is up to date")
      assert.deepStrictEqual(JSON.parse(yield* succeeds(["archive", "--json"])), { files: 0, rows: 0, bytes: 0 })
      assert.strictEqual(yield* checkArchive(fileTarget(folder)), 23)
    })
  )

  it.effect("fails with one line that says why", () =>
    Effect.gen(function* () {
      const { folder } = yield* Stage
      const file = join(yield* temporaryFolder, "file")
      writeFileSync(file, "")
      assert.match(
        yield* refusal({ ARCHIVE_CELL: "other" }),
        /^runplane: ARCHIVE_CELL is other, and the archive of this database/
      )
      assert.include(yield* refusal({ ARCHIVE_CELL: "Not A Cell" }), "ARCHIVE_CELL")
      assert.include(yield* refusal({ ARCHIVE_URL: "ftp://somewhere/else" }), "ARCHIVE_URL")
      assert.include(yield* refusal({ ARCHIVE_URL: "" }), "ARCHIVE_URL")
      assert.match(
        yield* refusal({ ARCHIVE_URL: `file://${folder}-moved` }),
        /^runplane: the archive of this database is in file:.*is not in file:/
      )
      assert.match(yield* refusal({ DATABASE_URL: "postgresql://runplane@127.0.0.1:1/none" }), /database|connect/i)
      for (const command of [["archive"], ["archive", "compact"]]) {
        assert.include(yield* refusal({ ARCHIVE_URL: "nowhere" }, command), "ARCHIVE_URL")
        assert.include(yield* refusal({ ARCHIVE_CELL: "other" }, command), "ARCHIVE_CELL is other")
      }
      const sql = yield* PgClient.PgClient
      yield* sql`TRUNCATE archive_state, archive_ranges, archive_files, archive_runs, archive_changes`
      assert.match(yield* refusal({ ARCHIVE_URL: `file://${file}/below` }), /ENOTDIR: not a directory/)
      yield* sql`TRUNCATE archive_state, archive_ranges, archive_files, archive_runs, archive_changes`
      // The kernel refuses a new directory there, also to root.
      assert.match(yield* refusal({ ARCHIVE_URL: "file:///sys/runplane" }), /EPERM|EACCES/)
      yield* sql`TRUNCATE archive_state, archive_ranges, archive_files, archive_runs, archive_changes`
      // A directory that is missing is made.
      const made = join(yield* temporaryFolder, "a", "b")
      assert.match(yield* succeeds(["archive"], { ARCHIVE_URL: `file://${made}` }), /^wrote 24 rows to 3 files/)
      yield* checkArchive(fileTarget(made))
    })
  )

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.effect(`fails at ${signal}, and the next one continues`, () =>
      Effect.gen(function* () {
        const { folder } = yield* Stage
        const sql = yield* PgClient.PgClient
        yield* sql`TRUNCATE archive_state, archive_ranges, archive_files, archive_runs, archive_changes`
        const into = join(folder, signal)
        const small = { ARCHIVE_URL: `file://${into}`, ARCHIVE_FILE_ROWS: "200" }
        yield* manyEvents(signal === "SIGTERM" ? 400 : 1)
        const target = fileTarget(into)
        const stopped = yield* Effect.scoped(
          Effect.gen(function* () {
            const program = yield* start(["archive"], small)
            yield* until(target.list("events/"), (paths) => paths.length >= 3)
            return yield* program.kill(signal)
          })
        )
        assert.deepStrictEqual([stopped.code, stopped.stdout], [1, []])
        assert.deepStrictEqual(stopped.stderr, ["runplane: interrupted before the end; the next command continues"])
        const files = (yield* target.list("events/")).length
        assert.match(yield* succeeds(["archive"], small), /^wrote \d+ rows to \d+ files/)
        assert.isAbove((yield* target.list("events/")).length, files)
        assert.isAbove(yield* checkArchive(target), 5_000)
      })
    )
  }

  it.effect("compacts the files of closed days", () =>
    Effect.gen(function* () {
      const { folder } = yield* Stage
      const sql = yield* PgClient.PgClient
      yield* sql`TRUNCATE archive_state, archive_ranges, archive_files, archive_runs, archive_changes`
      yield* sql`UPDATE canonical_events SET ts = ts - interval '3 days'`
      const into = { ARCHIVE_URL: `file://${join(folder, "compacted")}`, ARCHIVE_FILE_ROWS: "5000" }
      const target = fileTarget(join(folder, "compacted"))
      yield* succeeds(["archive"], into)
      const before = yield* target.list("events/")
      const days = new Set(before.map((path) => path.split("/")[1])).size
      assert.isAbove(before.length, days)
      const done = yield* succeeds(["archive", "compact"], into)
      assert.strictEqual(done, `wrote ${days} files, removed ${before.length} files and 0 rows`)
      assert.lengthOf(yield* target.list("events/"), days)
      yield* checkArchive(target)
      assert.deepStrictEqual(JSON.parse(yield* succeeds(["archive", "compact", "--json"], into)), {
        ...{ files: 0, removed: 0, rows: 0 }
      })
    })
  )
})

layer(service(true), { excludeTestServices: true })("runplane archive beside a service that archives", (it) => {
  it.effect("takes turns with it", () =>
    Effect.gen(function* () {
      const { folder } = yield* Stage
      const appended = Effect.gen(function* () {
        for (let round = 0; round < 20; round++) {
          yield* appendMessages(yield* createRun(), 50, 10)
          yield* endedRun
        }
      })
      const passes = Effect.forEach([1, 2, 3], () => ended(["archive"], { ARCHIVE_FILE_ROWS: "40" }))
      const [, done] = yield* Effect.all([appended, passes], { concurrency: "unbounded" })
      for (const { code, stderr } of done) assert.deepStrictEqual([code, stderr], [0, []])
      const archive = Effect.map(call("GET", "/admin/archive"), ({ body }) => body.archive)
      yield* until(archive, ({ lagEvents, waitingChanges }) => lagEvents === 0 && waitingChanges === 0)
      assert.strictEqual((yield* archive).failure, null)
      assert.strictEqual(yield* checkArchive(fileTarget(folder)), 20 * 51 + 20 * 2)
    })
  )
})
