import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from "../src/EmbeddedPostgres.ts"
import { isRunning } from "./support/Processes.ts"
import { listenAnywhere } from "./support/Sockets.ts"
import { temporaryFolder } from "./support/TemporaryFolder.ts"

/** A stop may take this long, in milliseconds. */
const STOP_LIMIT_MS = 2_000

const serverOf = (options: EmbeddedPostgresOptions) =>
  Effect.map(Layer.build(EmbeddedPostgres.layer(options)), (context) =>
    EmbeddedPostgres.pipe(Effect.provide(context))
  ).pipe(Effect.flatten)

const query = (url: string, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return yield* sql.unsafe(statement).unprepared
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))

const refusal = (options: EmbeddedPostgresOptions) =>
  Effect.map(Effect.flip(Effect.scoped(serverOf(options))), (error) => ("message" in error ? error.message : ""))

layer(Layer.empty, { excludeTestServices: true })("embedded PostgreSQL", (it) => {
  it.effect("keeps what was written over restarts, and stops fast", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serverOf({ dataDir })
          yield* query(server.url, "CREATE TABLE kept AS SELECT 42::int AS answer")
          const settings = yield* query(server.url, "SELECT current_setting('fsync') AS fsync")
          assert.deepStrictEqual(settings, [{ fsync: "on" }])
          return { pid: server.pid, stopping: performance.now() }
        })
      )
      assert.isBelow(performance.now() - first.stopping, STOP_LIMIT_MS)
      assert.isFalse(isRunning(first.pid))
      const rows = yield* Effect.scoped(
        Effect.flatMap(serverOf({ dataDir }), ({ url }) => query(url, "SELECT answer FROM kept"))
      )
      assert.deepStrictEqual(rows, [{ answer: 42 }])
    })
  )

  it.effect("starts over the lock file of a server that is gone, even when its process id is taken", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const { folder } = yield* Effect.scoped(serverOf({ dataDir }))
      writeFileSync(join(folder, "postmaster.pid"), `${process.pid}\n${folder}\n1\n5432\n\n127.0.0.1\n`)
      const rows = yield* Effect.scoped(
        Effect.flatMap(serverOf({ dataDir }), ({ url }) => query(url, "SELECT 1 AS one"))
      )
      assert.deepStrictEqual(rows, [{ one: 1 }])
    })
  )

  it.effect("goes to a free port when it may choose, and refuses a taken one that was asked for", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const taken = yield* listenAnywhere
      assert.strictEqual(
        yield* refusal({ dataDir, port: taken.port }),
        `port ${taken.port} for the embedded PostgreSQL is already in use; set RUNPLANE_POSTGRES_PORT to another one`
      )
      // Each finds the same port free before the first of them listens there.
      const servers = yield* Effect.forEach(
        ["one", "two", "three"],
        (name) => serverOf({ dataDir: join(dataDir, name) }),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(new Set(servers.map(({ port }) => port)).size, 3)
    })
  )

  it.effect("says in one line why a folder cannot be used", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      writeFileSync(join(dataDir, "file"), "")
      mkdirSync(join(dataDir, "full", "postgres"), { recursive: true })
      writeFileSync(join(dataDir, "full", "postgres", "letter.txt"), "")
      mkdirSync(join(dataDir, "old", "postgres"), { recursive: true })
      writeFileSync(join(dataDir, "old", "postgres", "PG_VERSION"), "15\n")
      const reasons = yield* Effect.forEach(["file", "full", "old"], (name) =>
        Effect.map(refusal({ dataDir: join(dataDir, name) }), (message) => message.replace(dataDir, "<dir>"))
      )
      assert.deepStrictEqual(reasons, [
        "data folder <dir>/file cannot be used: its path is a file",
        "data folder <dir>/full/postgres cannot be used: it holds files that are not a PostgreSQL cluster",
        "data folder <dir>/old/postgres cannot be used: it was written by PostgreSQL 15, this is PostgreSQL 18"
      ])
      assert.isFalse(existsSync(join(dataDir, "old", "postgres", "postmaster.pid")))
    })
  )

  it.effect("refuses a folder that another server is using", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const { folder, pid } = yield* serverOf({ dataDir })
      assert.strictEqual(
        yield* refusal({ dataDir }),
        `PostgreSQL did not start: process ${pid} already serves ${folder}; is another stack running?`
      )
    })
  )
})
