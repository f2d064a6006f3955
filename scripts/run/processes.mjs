// Programs that scripts/run.mjs starts: none of them outlives it, however it ends.
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

/** Runs a program to its end; its output is shown when it fails, and that ends us. */
export const runToEnd = (command, args, options) =>
  new Promise((resolve) => {
    let output = ""
    const child = guarded(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text
      })
    }
    child.on("error", (error) => fail(`cannot run ${command}: ${error.message}`))
    child.on("close", (code, signal) => {
      if (code === 0) return resolve()
      process.stderr.write(output)
      fail(`${command} ${args.join(" ")} ended with ${signal ?? `exit code ${code}`}`)
    })
  })
