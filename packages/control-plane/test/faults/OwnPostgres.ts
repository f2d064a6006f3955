import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { freePort, loadWithoutHooks } from "../support/PostgresServer.ts"

/** How a server goes down: it ends its clients' sessions, it drops everything, or it is killed. */
export type Stop = "fast" | "immediate" | "kill"

const signals = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const

/** A PostgreSQL server of the test's own, to be stopped and started on the same data. */
export const ownPostgres = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-fault-pg-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  // As root the server runs as another user, who has to be able to enter the folder.
  chmodSync(folder, 0o755)
  const data = join(folder, "data")
  const { port, server } = yield* Effect.promise(async () => {
    const EmbeddedPostgres = await loadWithoutHooks()
    const port = await freePort()
    const server = new EmbeddedPostgres({
      databaseDir: data,
      user: "postgres",
      password: "postgres",
      port,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--encoding=UTF8", "--no-locale", "--no-sync"],
      postgresFlags: ["-c", "fsync=off", "-c", "max_connections=100"],
      onLog: () => {},
      onError: () => {}
    })
    await server.initialise()
    return { port, server }
  })

  const lockFile = join(data, "postmaster.pid")

  // After a kill the old server's processes may still hold its shared memory for a moment.
  const start = Effect.tryPromise(() => server.start()).pipe(
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }),
    Effect.orDie
  )

  const stop = Effect.fnUntraced(function* (how: Stop) {
    if (!existsSync(lockFile)) return
    const postmaster = Number(readFileSync(lockFile, "utf8").split("\n")[0])
    yield* Effect.sync(() => process.kill(postmaster, signals[how]))
    yield* Effect.sync(() => isAlive(postmaster)).pipe(
      Effect.repeat({ while: (alive) => alive, schedule: Schedule.spaced("10 millis") })
    )
  })

  yield* Effect.acquireRelease(start, () => Effect.ignore(stop("immediate")))
  return { url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`, port, start, stop }
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
