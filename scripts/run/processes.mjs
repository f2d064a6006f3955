// Programs that scripts/run.mjs starts: all of them end with it, however it ends.
import { spawn } from "node:child_process"
import { setPriority } from "node:os"

export const windows = process.platform === "win32"

export const say = (text) => process.stderr.write(`runplane: ${text}\n`)

export const fail = (text) => {
  say(text)
  process.exit(1)
}

/** A program that did not succeed: one line as its message, and everything that it printed. */
export class ProgramFailed extends Error {
  constructor(message, output = "") {
    super(message)
    this.output = output
  }
}

/** Ends this process with the output of a failed program and its line. */
export const failWith = (error) => {
  if (!(error instanceof ProgramFailed)) throw error
  process.stderr.write(error.output)
  fail(error.message)
}

/**
 * Starts a program. Should this process be killed without a chance to do anything, a shell ends the program: it waits
 * on a pipe that only this process holds open. Without the shell everything works but that.
 */
export const guarded = (command, args, options) => {
  const child = spawn(command, args, { shell: windows, ...options })
  if (windows || child.pid === undefined) return child
  const guard = spawn("/bin/sh", ["-c", 'read -r _; kill -TERM "$1"', "runplane-guard", String(child.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  }).on("error", () => {})
  child.on("exit", () => guard.kill("SIGKILL"))
  return child
}

/** A program that runs longer says so again and again, less often beside another one. Milliseconds. */
const WAITING_PERIOD = 5_000
const WAITING_PERIOD_BESIDE = 15_000

/** The lowest priority: the program beside it has the processor first. */
const BESIDE = 19

/**
 * Runs a program to its end; rejects with `ProgramFailed` unless it succeeds. Its line is what `explain` makes of the
 * output, if it returns one. `waiting` names what a long run is doing, `progress` what the output says about it.
 */
export const runToEnd = (command, args, given) => {
  const { beside = false, explain = () => undefined, progress = () => undefined, waiting, ...options } = given
  return new Promise((resolve, reject) => {
    let output = ""
    const child = guarded(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    if (beside && child.pid !== undefined) lowerPriority(child.pid)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text
      })
    }
    const started = performance.now()
    const report = () => {
      const seconds = Math.round((performance.now() - started) / 1000)
      const details = progress(output)
      say(`still ${waiting} (${seconds} s)${details === undefined ? "" : `: ${details}`}`)
    }
    const timer =
      waiting === undefined ? undefined : setInterval(report, beside ? WAITING_PERIOD_BESIDE : WAITING_PERIOD)
    child.on("error", (error) => {
      clearInterval(timer)
      reject(new ProgramFailed(`cannot run ${command}: ${error.message}`))
    })
    child.on("close", (code, signal) => {
      clearInterval(timer)
      if (code === 0) return resolve()
      const line = explain(output) ?? `${command} ${args.join(" ")} ended with ${signal ?? `exit code ${code}`}`
      reject(new ProgramFailed(line, output))
    })
  })
}

const lowerPriority = (pid) => {
  try {
    setPriority(pid, BESIDE)
  } catch {
    // It has ended already, or this user may not; it then runs as everything else.
  }
}
