import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { freePorts } from "./Loopback.ts"

/** The process of the runtime ended before it served requests. */
export class RuntimeDidNotStart extends Data.TaggedError("RuntimeDidNotStart")<{ readonly output: string }> {
  override get message() {
    return `the runtime did not start: ${this.output.trim().slice(-500)}`
  }
}

/** What the settings of macp-runtime must be so that it keeps up with the tests; its defaults are for production. */
const PATIENT = {
  MACP_ALLOW_INSECURE: "1",
  // Seconds: this pass finds expired sessions without a request.
  MACP_CLEANUP_INTERVAL_SECS: "1",
  MACP_SESSION_START_LIMIT_PER_MINUTE: "100000",
  MACP_MESSAGE_LIMIT_PER_MINUTE: "1000000",
  MACP_SHUTDOWN_DRAIN_SECS: "1",
  RUST_LOG: "info",
  NO_COLOR: "1"
}

/** Every message of a runtime that keeps its sessions waits for the disk; here it is not the disk that is tested. */
const SHARED_MEMORY = "/dev/shm"

/** Where the binary is; `npm run test:runtime` says so. */
const RUNTIME_BINARY = process.env["MACP_RUNTIME_BINARY"]

/**
 * Runs the program that is its argument until its input ends, so that nothing stays behind should this process be
 * killed.
 */
const UNTIL_INPUT_ENDS = 'exec 3<&0; "$0" </dev/null & pid=$!; (cat <&3 >/dev/null; kill -9 $pid) & wait $pid'

/** A folder for the data of a runtime, until the scope closes. */
export const runtimeFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), "runplane-runtime-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

/** Where a runtime listens, and where its data is: one that was killed goes on there. */
export interface RuntimeHome {
  readonly address: string
  readonly folder: string
}

/**
 * Runs macp-runtime until the scope closes, which kills it by signal 9: on a free port of the loopback with a folder of
 * its own, unless it has a home.
 */
export const startRuntime = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>, home?: RuntimeHome) {
  const [port = 0] = yield* freePorts(1)
  const address = home?.address ?? `127.0.0.1:${port}`
  const folder = home?.folder ?? (yield* runtimeFolder)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("sh", ["-c", UNTIL_INPUT_ENDS, RUNTIME_BINARY ?? "macp-runtime"], {
        cwd: folder,
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...PATIENT, PATH: process.env["PATH"], MACP_BIND_ADDR: address, ...env }
      })
    ),
    (running) =>
      Effect.callback<void>((resume) => {
        if (running.exitCode !== null) return resume(Effect.void)
        running.once("exit", () => resume(Effect.void))
        running.stdin.end()
      })
  )
  yield* Effect.callback<void, RuntimeDidNotStart>((resume) => {
    let output = ""
    const read = (text: string) => {
      output += text
      if (output.includes("listening")) resume(Effect.void)
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8")
      stream.on("data", read)
    }
    child.once("error", (error) => resume(Effect.fail(new RuntimeDidNotStart({ output: error.message }))))
    child.once("exit", () => resume(Effect.fail(new RuntimeDidNotStart({ output }))))
  })
  return address
})
