import { type ChildProcess, spawn } from "node:child_process"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Ended {
  /** The exit code; null when a signal ended the program. */
  readonly code: number | null
  /** Lines that are not blank. */
  readonly stdout: ReadonlyArray<string>
  readonly stderr: ReadonlyArray<string>
}

/** A Node program under test, in a process of its own. */
export interface Program {
  readonly pid: number
  /** Waits for a line of the standard output that fits; answers undefined when the program ends without it. */
  readonly line: (wanted: string | RegExp) => Effect.Effect<string | undefined>
  /** Both outputs so far, as they came. */
  readonly output: () => string
  readonly isAlive: () => boolean
  readonly ended: Effect.Effect<Ended>
  /** Sends the signal and waits for the end. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<Ended>
  /** Ends its standard input. */
  readonly endInput: () => void
}

export interface ProgramOptions {
  readonly args?: ReadonlyArray<string>
  /** All of its environment. */
  readonly env: NodeJS.ProcessEnv
}

/** Runs `node main` until the scope closes, or until this process is gone, however it ends. */
export const startProgram = Effect.fnUntraced(function* (
  main: string,
  { args = [], env }: ProgramOptions
): Effect.fn.Return<Program, never, Scope.Scope> {
  const program = yield* Effect.acquireRelease(
    Effect.sync(() => watch(spawn(process.execPath, [main, ...args], { stdio: "pipe", env }))),
    ({ kill }) => kill("SIGKILL")
  )
  yield* guard(program.pid)
  return program
})

/**
 * Kills the process when this one had no chance to do that itself (`kill -9`): a shell waits on a pipe that only this
 * process holds open.
 */
const guard = (pid: number) =>
  process.platform === "win32"
    ? Effect.void
    : Effect.acquireRelease(
        Effect.sync(() =>
          spawn("/bin/sh", ["-c", 'read -r _; kill -9 "$1"', "runplane-test-guard", String(pid)], {
            detached: true,
            stdio: ["pipe", "ignore", "ignore"]
          })
        ),
        (shell) => Effect.sync(() => shell.kill("SIGKILL"))
      )

const watch = (child: ChildProcess): Program => {
  let output = ""
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const waiting = new Set<() => void>()
  const end = Deferred.makeUnsafe<Ended>()
  let over = false
  const wake = () => {
    for (const check of waiting) check()
  }
  const collect = (name: "stdout" | "stderr", lines: Array<string>) => {
    let open = ""
    child[name]?.setEncoding("utf8")
    child[name]?.on("data", (text: string) => {
      output += text
      const parts = (open + text).split("\n")
      open = parts.pop() ?? ""
      lines.push(...parts.filter((line) => line.trim() !== ""))
      wake()
    })
  }
  collect("stdout", stdout)
  collect("stderr", stderr)
  // It may end before it has read what it was sent.
  child.stdin?.on("error", () => {})
  child.once("close", (code) => {
    over = true
    Deferred.doneUnsafe(end, Effect.succeed({ code, stdout, stderr }))
    wake()
  })
  const ended = Deferred.await(end)
  return {
    pid: child.pid ?? 0,
    ended,
    output: () => output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    endInput: () => child.stdin?.end(),
    kill: (signal) =>
      Effect.suspend(() => {
        child.kill(signal)
        return ended
      }),
    line: (wanted) =>
      Effect.callback((resume) => {
        const check = () => {
          const found = stdout.find((line) => (typeof wanted === "string" ? line.includes(wanted) : wanted.test(line)))
          if (found === undefined && !over) return
          waiting.delete(check)
          resume(Effect.succeed(found))
        }
        waiting.add(check)
        check()
        return Effect.sync(() => waiting.delete(check))
      })
  }
}
