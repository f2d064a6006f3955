import { type ChildProcess, spawn } from "node:child_process"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ServerUser } from "./ServerUser.ts"

/** A program could not be started or ended with an error; the message is the last thing it said. */
export class ProgramFailed extends Data.TaggedError("ProgramFailed")<{ readonly message: string }> {}

/** Lines of a program's output that are kept for the message of a failure. */
const KEPT_LINES = 20

/** What a program wrote last, and the line of it that says what went wrong. */
export interface Output {
  readonly problem: () => string
}

/**
 * Starts a program of PostgreSQL as the user given, in a process group of its own: Ctrl-C in the terminal must reach it
 * through us and not at the same moment as us.
 */
export const launch = (program: string, args: ReadonlyArray<string>, user: ServerUser | undefined): ChildProcess =>
  spawn(program, args, {
    detached: true,
    cwd: "/",
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
    ...(user !== undefined && { uid: user.uid, gid: user.gid })
  })

/** All that the programs need of ours: the keys and passwords of the services are none of their business. */
const INHERITED = ["PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "SystemRoot", "TEMP"]

const environment = () => {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  // Messages are read by us, so they have to be in one language.
  return { ...Object.fromEntries(inherited), LC_ALL: "C", LC_MESSAGES: "C" }
}

/** Keeps reading the output, since a full pipe would stop the program, and hands each line on. */
export const follow = (child: ChildProcess, onLine: (line: string) => void = () => {}): Output => {
  const lines: Array<string> = []
  for (const stream of [child.stdout, child.stderr]) {
    let open = ""
    stream?.setEncoding("utf8")
    stream?.on("data", (text: string) => {
      const parts = (open + text).split(/\r?\n/)
      open = parts.pop() ?? ""
      for (const line of parts.filter((part) => part.trim() !== "")) {
        if (lines.push(line.trim()) > KEPT_LINES) lines.shift()
        onLine(line)
      }
    })
  }
  return { problem: () => mostTelling(lines) }
}

/** Runs a program and waits for its end; interruption ends it. */
export const runToEnd = (program: string, args: ReadonlyArray<string>, user: ServerUser | undefined) =>
  Effect.callback<void, ProgramFailed>((resume) => {
    const child = launch(program, args, user)
    const output = follow(child)
    child.once("error", (error) => resume(Effect.fail(new ProgramFailed({ message: error.message }))))
    child.once("close", (code) =>
      resume(code === 0 ? Effect.void : Effect.fail(new ProgramFailed({ message: output.problem() })))
    )
    return Effect.sync(() => child.kill("SIGTERM"))
  })

const mostTelling = (lines: ReadonlyArray<string>) => {
  const line =
    lines.findLast((text) => /FATAL:|PANIC:/.test(text)) ??
    lines.findLast((text) => /error:/.test(text)) ??
    lines.at(-1)
  // Without the time, the process number and the program that the line starts with.
  return line?.replace(/^.*?(?:FATAL|PANIC|error): +/, "") ?? "it ended without a message"
}
