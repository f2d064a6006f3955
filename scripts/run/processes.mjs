// Programs that scripts/run.mjs starts: all of them end with it, however it ends.
import { spawn } from "node:child_process"

export const windows = process.platform === "win32"

export const say = (text) => process.stderr.write(`runplane: ${text}\n`)

export const fail = (text) => {
  say(text)
  process.exit(1)
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

/** A program that runs longer says so, and again after each such period. Milliseconds. */
const WAITING_PERIOD = 10_000

/**
 * Runs a program to its end. Its output is shown when it fails, and the failure ends this process, with the line that
 * `explain` makes of the output, if it returns one. `waiting` names what a long run is doing.
 */
export const runToEnd = (command, args, { explain = () => undefined, waiting, ...options }) =>
  new Promise((resolve) => {
    let output = ""
    const child = guarded(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text
      })
    }
    const started = performance.now()
    const timer =
      waiting === undefined
        ? undefined
        : setInterval(
            () => say(`still ${waiting} (${Math.round((performance.now() - started) / 1000)} s)`),
            WAITING_PERIOD
          )
    child.on("error", (error) => fail(`cannot run ${command}: ${error.message}`))
    child.on("close", (code, signal) => {
      clearInterval(timer)
      if (code === 0) return resolve()
      process.stderr.write(output)
      fail(explain(output) ?? `${command} ${args.join(" ")} ended with ${signal ?? `exit code ${code}`}`)
    })
  })
