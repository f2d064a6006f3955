import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AgentUser } from "../common/AgentUser.ts"
import { helpersOf, type SeenProcess, signalAll } from "./ProcessTree.ts"

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

export interface AgentProcess {
  readonly pid: number
  readonly exit: Effect.Effect<ProcessExit>
  readonly stdout: Readable
  readonly stderr: Readable
}

export interface ProcessCommand {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Absolute path. */
  readonly cwd: string
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Time between SIGTERM and SIGKILL, ms. */
  readonly stopGraceMs: number
  /** What `env` has as the mark of the agent's processes (`ProcessTree`). */
  readonly mark: string
  /** Undefined: the user of this process. */
  readonly user: AgentUser | undefined
}

export class SpawnFailed extends Data.TaggedError("SpawnFailed")<{ readonly message: string }> {}

/**
 * Starts a process that lives as long as the scope: closing it sends SIGTERM, and SIGKILL after its grace. It gets
 * a process group of its own, so that a Ctrl-C meant for the service does not reach it directly. What it has started
 * itself ends with it, in whatever group or session that is (docs/internals/launch.md#agent-process).
 *
 * Its standard input is a pipe that is never written to. The operating system closes it when this process ends in
 * whatever way, `kill -9` included: an agent that exits at the end of its input cannot outlive the service.
 *
 * Not by effect/process: it has the signal that ended a process only in the text of an error, and the answer to the
 * launch names that signal.
 */
export const spawnAgent = (command: ProcessCommand) =>
  Effect.acquireRelease(start(command), (started) => stop(started, command)).pipe(
    Effect.map(
      ({ child, pid, exit }): AgentProcess => ({
        pid,
        exit: Deferred.await(exit),
        stdout: child.stdout,
        stderr: child.stderr
      })
    ),
    Effect.withSpan("AgentProcess.spawn")
  )

const start = ({ command, args, cwd, env, mark, user }: ProcessCommand) =>
  Effect.callback<StartedProcess, SpawnFailed>((resume) => {
    const exit = Deferred.makeUnsafe<ProcessExit>()
    const fail = (message: string) => resume(Effect.fail(new SpawnFailed({ message: `spawn error: ${message}` })))
    let child: PipedChild
    try {
      child = spawn(command, [...args], {
        ...(user !== undefined && { uid: user.uid, gid: user.gid }),
        cwd,
        env: { ...env },
        stdio: ["pipe", "pipe", "pipe"],
        detached: true
      })
    } catch (cause) {
      // A NUL in an argument or in the environment, say.
      return fail(cause instanceof Error ? cause.message : String(cause))
    }
    child.once("error", ({ message }) => fail(message))
    const helpers: Array<SeenProcess> = []
    child.once("exit", (code, signal) => {
      // The processes that it started and left running end with it.
      signalGroup(child, "SIGKILL")
      signalAll([...helpers, ...helpersOf(child.pid ?? 0, mark)], "SIGKILL")
      Deferred.doneUnsafe(exit, Effect.succeed({ code, signal }))
    })
    child.once("spawn", () => {
      // Without listeners a failed write or kill would be an uncaught exception of the whole service.
      child.on("error", () => undefined)
      child.stdin.on("error", () => undefined)
      if (child.pid === undefined) fail("no process id")
      else resume(Effect.succeed({ child, pid: child.pid, exit, helpers }))
    })
  })

type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>

interface StartedProcess {
  readonly child: PipedChild
  readonly pid: number
  readonly exit: Deferred.Deferred<ProcessExit>
  /** Those found when it was stopped: at its end nothing but a mark leads to them. */
  readonly helpers: Array<SeenProcess>
}

/** Runs in a finalizer, so its waiting uses the machine's timer: a test's clock would never reach the end of it. */
const stop = ({ child, exit, helpers, pid }: StartedProcess, { mark, stopGraceMs }: ProcessCommand) =>
  Effect.sync(() => helpersOf(pid, mark)).pipe(
    Effect.flatMap((found) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        helpers.push(...found)
        const kill = setTimeout(() => signalGroup(child, "SIGKILL"), stopGraceMs)
        child.once("exit", () => {
          clearTimeout(kill)
          resume(Effect.void)
        })
        signalGroup(child, "SIGTERM")
        signalAll(found, "SIGTERM")
      })
    ),
    Effect.andThen(Deferred.await(exit)),
    Effect.asVoid
  )

/** The whole group, so that what an agent started itself goes with it; only the agent where there are no groups. */
const signalGroup = (child: ChildProcess, signal: NodeJS.Signals) => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}
