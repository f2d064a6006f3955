import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from "../src/EmbeddedPostgres.ts"
import { temporaryFolder } from "../src/TemporaryFolder.ts"

/** A stop may take this long, in milliseconds, unless the machine is so busy that even the start took longer. */
const STOP_LIMIT_MS = 2_000

/** A server; without `fsync`, unless the test is about what reaches the disk. */
const serverOf = (options: EmbeddedPostgresOptions) =>
  Effect.map(Layer.build(EmbeddedPostgres.layer({ parameters: { fsync: "off" }, ...options })), (context) =>
    EmbeddedPostgres.pipe(Effect.provide(context))
  ).pipe(Effect.flatten)

const query = (url: string, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return yield* sql.unsafe(statement).unprepared
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))

const refusal = (options: EmbeddedPostgresOptions) =>
  Effect.map(Effect.flip(Effect.scoped(serverOf(options))), (error) => ("message" in error ? error.message : ""))

/** A port with a listener until the scope closes. */
const takenPort = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.callback<void>((closed) => void server.close(() => closed(Effect.void)))
).pipe(
  Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  })
)

const isRoot = process.getuid?.() === 0

const SECRET = "key-of-the-service"

/** This process has a key among its variables until the scope closes. */
const keyInEnvironment = Effect.acquireRelease(
  Effect.sync(() => {
    process.env["AUTH_API_KEYS"] = SECRET
  }),
  () =>
    Effect.sync(() => {
      delete process.env["AUTH_API_KEYS"]
    })
)

/** The process as the system shows it; undefined when it has ended meanwhile. */
const shownOf = (pid: string, file: "cmdline" | "environ" | "status"): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return undefined
  }
}

/** The guards of the servers of this process. */
const guards = () =>
  readdirSync("/proc").filter(
    (id) =>
      (shownOf(id, "cmdline") ?? "").split("\0").includes("runplane-postgres-guard") &&
      shownOf(id, "status")?.includes(`\nPPid:\t${process.pid}\n`)
  )

/** Whether a stopped process has the signal to come. */
const awaitsInterrupt = (pid: number) => /^ShdPnd:\s+[0-9a-f]*[2367abef]$/m.test(shownOf(String(pid), "status") ?? "")

/** A server in a folder of its own leaves files outside of all temporary folders. */
const deleteAtEnd = (folder: string) =>
  Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))

layer(Layer.empty, { excludeTestServices: true })("embedded PostgreSQL", (it) => {
  it.effect("keeps what was written over restarts, and stops fast", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const starting = performance.now()
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serverOf({ dataDir, parameters: {} })
          const limit = Math.max(STOP_LIMIT_MS, performance.now() - starting)
          yield* query(server.url, "CREATE TABLE kept AS SELECT 42::int AS answer")
          const settings = yield* query(server.url, "SELECT current_setting('fsync') AS fsync")
          assert.deepStrictEqual(settings, [{ fsync: "on" }])
          return { pid: server.pid, limit, stopping: performance.now() }
        })
      )
      assert.isBelow(performance.now() - first.stopping, first.limit)
      assert.throws(() => process.kill(first.pid, 0), "ESRCH")
      const rows = yield* Effect.scoped(
        Effect.flatMap(serverOf({ dataDir }), ({ url }) => query(url, "SELECT answer FROM kept"))
      )
      assert.deepStrictEqual(rows, [{ answer: 42 }])
    })
  )

  it.effect.skipIf(process.platform !== "linux")(
    "hands no key of ours on, neither to the server nor to its guard",
    () =>
      Effect.gen(function* () {
        yield* keyInEnvironment
        const before = guards()
        const { pid } = yield* serverOf({ dataDir: yield* temporaryFolder })
        const added = guards().filter((id) => !before.includes(id))
        assert.lengthOf(added, 1)
        for (const id of [String(pid), ...added]) {
          const environment = shownOf(id, "environ")
          assert.isDefined(environment)
          assert.notInclude(environment, SECRET)
        }
      })
  )

  it.effect.skipIf(process.platform !== "linux")("is guarded until it has ended", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const before = guards()
      const scope = yield* Scope.make()
      const { pid } = yield* Scope.provide(serverOf({ dataDir }), scope)
      const added = guards().filter((id) => !before.includes(id))
      process.kill(pid, "SIGSTOP")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.sync(() => awaitsInterrupt(pid)).pipe(Effect.delay("10 millis"), Effect.repeat({ until: Boolean }))
      const left = guards()
      process.kill(pid, "SIGCONT")
      yield* Fiber.join(closing)
      assert.includeMembers(left, added)
      assert.lengthOf(added, 1)
      assert.notIncludeMembers(guards(), added)
      assert.throws(() => process.kill(pid, 0), "ESRCH")
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

  it.effect("uses a free port when it may choose, and refuses a configured port that is in use", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const taken = yield* takenPort
      assert.strictEqual(
        yield* refusal({ dataDir, port: taken }),
        `port ${taken} for the embedded PostgreSQL is already in use; set RUNPLANE_POSTGRES_PORT to another one`
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
      const folders = [...["file", "full", "old"].map((name) => join(dataDir, name)), "/proc/data"]
      const reasons = yield* Effect.forEach(folders, (folder) =>
        Effect.map(refusal({ dataDir: folder }), (message) => message.replace(dataDir, "<dir>"))
      )
      assert.deepStrictEqual(reasons, [
        "data folder <dir>/file cannot be used: its path is a file",
        "data folder <dir>/full/postgres cannot be used: it holds files that are not a PostgreSQL cluster",
        "data folder <dir>/old/postgres cannot be used: it was written by PostgreSQL 15, this is PostgreSQL 18",
        "data folder /proc/data cannot be used: no folder can be made there; " +
          "set RUNPLANE_DATA_DIR to a folder that you may write"
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

  it.effect("serves root from a folder of its own when the data folder is private, and opens nothing", () =>
    Effect.gen(function* () {
      const parent = yield* temporaryFolder
      const dataDir = join(parent, "private folder", ".data")
      mkdirSync(dataDir, { recursive: true })
      chmodSync(join(parent, "private folder"), 0o700)
      const link = join(dataDir, "postgres")
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serverOf({ dataDir })
          yield* query(server.url, "CREATE TABLE kept AS SELECT 42::int AS answer")
          return server
        })
      )
      yield* deleteAtEnd(first.folder)
      assert.strictEqual(statSync(join(parent, "private folder")).mode & 0o777, 0o700)
      if (!isRoot) return assert.strictEqual(first.folder, link)

      assert.strictEqual(readlinkSync(link), first.folder)
      assert.isFalse(first.folder.startsWith(parent))
      assert.strictEqual(statSync(first.folder).mode & 0o777, 0o700)
      assert.notStrictEqual(statSync(first.folder).uid, 0)

      // The link goes where its folder goes.
      const moved = join(parent, "moved")
      renameSync(join(parent, "private folder"), moved)
      const rows = yield* Effect.scoped(
        Effect.flatMap(serverOf({ dataDir: join(moved, ".data") }), ({ url }) => query(url, "SELECT answer FROM kept"))
      )
      assert.deepStrictEqual(rows, [{ answer: 42 }])
    })
  )

  it.effect("makes the cluster anew when the folder behind the link is gone", () =>
    Effect.gen(function* () {
      const parent = yield* temporaryFolder
      chmodSync(parent, 0o700)
      const start = Effect.scoped(Effect.map(serverOf({ dataDir: parent }), ({ folder }) => folder))
      const first = yield* start
      yield* deleteAtEnd(first)
      rmSync(first, { recursive: true })
      assert.strictEqual(yield* start, first)
    })
  )

  it.effect("moves a cluster along whose folder was closed", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.flatMap(serverOf({ dataDir }), ({ url }) => query(url, "CREATE TABLE kept AS SELECT 42::int AS answer"))
      )
      chmodSync(dataDir, 0o700)
      const rows = yield* Effect.scoped(
        Effect.gen(function* () {
          const { folder, url } = yield* serverOf({ dataDir })
          return { folder, found: yield* query(url, "SELECT answer FROM kept") }
        })
      )
      if (isRoot) yield* deleteAtEnd(rows.folder)
      assert.deepStrictEqual(rows.found, [{ answer: 42 }])
      assert.strictEqual(lstatSync(join(dataDir, "postgres")).isSymbolicLink(), isRoot)
    })
  )
})
