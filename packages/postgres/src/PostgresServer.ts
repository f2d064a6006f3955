import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { follow, launch, type Output } from "./Programs.ts"
import type { ServerLocation } from "./ServerLocation.ts"

/** The server of the data folder did not start. */
export class PostgresStartFailed extends Data.TaggedError("PostgresStartFailed")<{ readonly reason: string }> {
  override get message() {
    return `PostgreSQL did not start: ${this.reason}`
  }
}

/** A cluster of this age and size recovers from a power cut in far less. */
const START_TIMEOUT = Duration.seconds(60)

/**
 * Time for a fast shutdown with its checkpoint; after it the server gets the signal to stop at once and recovers at the
 * next start.
 */
const STOP_TIMEOUT = Duration.millis(1_200)

/** How long the server of a stack that was killed a moment ago may take to go away. */
const PREDECESSOR_TIMEOUT = Duration.seconds(10)

const READY = "database system is ready to accept connections"

export interface ServerOptions extends ServerLocation {
  readonly port: number
  /** Configuration parameters of PostgreSQL, on top of ours. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

export interface RunningServer {
  readonly pid: number
  /** Waits for its end; answers what it said last. */
  readonly ended: Effect.Effect<string>
}

/** Runs the server until the scope closes. Answers when it accepts connections. */
export const startServer = Effect.fn("PostgresServer.start")(function* (
  options: ServerOptions
): Effect.fn.Return<RunningServer, PostgresStartFailed, Scope.Scope> {
  yield* removeStaleLock(options.cluster)
  const watchServer = yield* guard
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const server = launch(options.binaries.postgres, flags(options), options.user)
      watchServer(server.pid)
      return server
    }),
    stop
  )
  const output = yield* ready(child).pipe(
    Effect.timeoutOrElse({
      duration: START_TIMEOUT,
      orElse: () => new PostgresStartFailed({ reason: `not ready after ${Duration.format(START_TIMEOUT)}` })
    })
  )
  const { pid } = child
  if (pid === undefined) return yield* new PostgresStartFailed({ reason: "it ended at once" })
  return { pid, ended: endOf(child, output) }
})

const PARAMETERS = {
  listen_addresses: "127.0.0.1",
  // A socket file would need a folder that every user may write, and a port that is free there too.
  unix_socket_directories: "",
  fsync: "on",
  // A new log segment is not filled with zeros first: that would hold up, for tens of milliseconds, the commit that
  // needs it.
  wal_init_zero: "off"
}

const flags = ({ cluster, parameters, port }: ServerOptions) => [
  "-D",
  cluster,
  "-p",
  String(port),
  ...Object.entries({ ...PARAMETERS, ...parameters }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

const ready = (child: ChildProcess) =>
  Effect.callback<Output, PostgresStartFailed>((resume) => {
    const output = follow(child, (line) => {
      if (line.includes(READY)) resume(Effect.succeed(output))
    })
    const failed = (reason: string) => resume(Effect.fail(new PostgresStartFailed({ reason })))
    child.once("error", (error) => failed(error.message))
    child.once("close", () => failed(output.problem()))
  })

/** What a signal ended has said nothing about it. */
const endOf = (child: ChildProcess, output: Output) =>
  Effect.callback<string>((resume) => {
    const exited = () =>
      resume(Effect.succeed(child.signalCode === null ? output.problem() : `ended by ${child.signalCode}`))
    if (child.exitCode !== null || child.signalCode !== null) return exited()
    child.once("exit", exited)
    return Effect.sync(() => child.off("exit", exited))
  })

const stop = (child: ChildProcess) =>
  ended(child, "SIGINT").pipe(Effect.timeoutOrElse({ duration: STOP_TIMEOUT, orElse: () => ended(child, "SIGQUIT") }))

const ended = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.callback<void>((resume) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/**
 * Starts a shell that stops the server when this process had no chance to do that itself (`kill -9`, or an exit in the
 * middle of a shutdown). It waits on a pipe that only this process holds open, first for the id of the server. It is
 * there from before the server starts until the server is gone. Answers how to name the server to it.
 */
const guard = Effect.acquireRelease(
  Effect.sync(() => {
    if (process.platform === "win32") return undefined
    const script = 'read -r server && { read -r _; kill -INT "$server"; }'
    const shell = spawn("/bin/sh", ["-c", script, "runplane-postgres-guard"], {
      detached: true,
      env: {},
      stdio: ["pipe", "ignore", "ignore"]
    })
    // Without the guard everything works but the clean-up after kill -9.
    shell.on("error", () => {})
    shell.stdin.on("error", () => {})
    return shell
  }),
  (shell) => (shell === undefined ? Effect.void : ended(shell, "SIGKILL"))
).pipe(
  Effect.map((shell) => (pid: number | undefined) => {
    if (pid !== undefined) shell?.stdin.write(`${pid}\n`)
  })
)

/**
 * Removes the lock file of a server that is gone. PostgreSQL does that too, but not when another process of the user
 * has the old process id by now, which is the rule after a restart of a container.
 */
const removeStaleLock = Effect.fn("PostgresServer.removeStaleLock")(function* (cluster: string) {
  const file = join(cluster, "postmaster.pid")
  const holder = Effect.sync(() => {
    if (!existsSync(file)) return undefined
    const pid = Number(readFileSync(file, "utf8").split("\n")[0])
    return runsPostgres(pid) ? pid : undefined
  })
  const pid = yield* holder.pipe(
    Effect.repeat({
      schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: PREDECESSOR_TIMEOUT })),
      while: (running) => running !== undefined
    })
  )
  if (pid !== undefined) {
    return yield* new PostgresStartFailed({
      reason: `process ${pid} already serves ${cluster}; is another stack running?`
    })
  }
  yield* Effect.sync(() => rmSync(file, { force: true }))
})

const runsPostgres = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return false
  const commandLine = `/proc/${pid}/cmdline`
  // Where the system does not show the program, an existing process counts as the server.
  return !existsSync(commandLine) || /postgres\0/.test(readFileSync(commandLine, "utf8"))
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
