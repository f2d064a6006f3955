import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import { EXAMPLE_AGENTS } from "../../src/examples/Agents.ts"
import { BRIDGE, balanced, balancedHints, bootstrapFor, degraded, type Launch } from "../support/Bridge.ts"

const main = fileURLToPath(new URL("../../src/examples/main.ts", import.meta.url))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "agents-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** An agent as the launch service starts it, its standard input being a pipe that this process holds. */
const start = (agentRef: string, bootstrapFile: string | undefined) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { PROTO_BOOTSTRAP_FILE: _, MACP_BOOTSTRAP_FILE: __, ...env } = process.env
      const child = spawn(process.execPath, [main, "--agent", agentRef], {
        stdio: ["pipe", "ignore", "pipe"],
        env: bootstrapFile === undefined ? env : { ...env, PROTO_BOOTSTRAP_FILE: bootstrapFile }
      })
      return { child, over: exitOf(child) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const exitOf = (child: ChildProcess): Promise<{ code: number | null; stderr: string }> =>
  new Promise((resolve) => {
    let stderr = ""
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.once("close", (code) => resolve({ code, stderr }))
  })

const writeBootstrap = (directory: string, participant: string, launch: Launch): string => {
  const file = join(directory, `${participant}.json`)
  writeFileSync(file, JSON.stringify(bootstrapFor(participant, launch)))
  return file
}

const launchOn = (runtimeUrl: string): Launch => ({
  runtimeUrl,
  sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a11",
  policyVersion: balanced.policyId,
  hints: balancedHints,
  incident: degraded
})

describe("an example agent as a process", () => {
  it.live("exits 0 when its work in the session is done", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.registerPolicy(balanced)
      const launch = launchOn(sandbox.address)
      const directory = yield* folder
      const agents = yield* Effect.forEach(BRIDGE, ([participant, agentRef]) =>
        start(agentRef, writeBootstrap(directory, participant, launch))
      )
      const exits = yield* Effect.promise(() => Promise.all(agents.map(({ over }) => over)))
      assert.deepStrictEqual(
        exits,
        BRIDGE.map(() => ({ code: 0, stderr: "" }))
      )
      const history = yield* sandbox.acceptedHistory(launch.sessionId)
      assert.strictEqual(history.at(-1)?.messageType, "Commitment")
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("exits when its standard input ends, because its host is gone", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const file = writeBootstrap(yield* folder, "impact-analyst", launchOn(sandbox.address))
      const { child, over } = yield* start("impact-agent", file)
      child.stdin?.end()
      const exit = yield* Effect.promise(() => over)
      assert.deepStrictEqual(exit, { code: 1, stderr: "impact-agent: standard input ended: the host is gone\n" })
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  const failures: ReadonlyArray<readonly [string, string, string | undefined, string]> = [
    [
      "has no bootstrap file",
      "impact-agent",
      undefined,
      "impact-agent: neither PROTO_BOOTSTRAP_FILE nor MACP_BOOTSTRAP_FILE is set\n"
    ],
    [
      "cannot read it",
      "impact-agent",
      "/nowhere/b.json",
      "impact-agent: bootstrap file /nowhere/b.json cannot be read\n"
    ],
    [
      "is not known",
      "nobody",
      undefined,
      `nobody: unknown agent "nobody", known are ${Object.keys(EXAMPLE_AGENTS).join(", ")}\n`
    ]
  ]
  for (const [name, agentRef, file, stderr] of failures) {
    it.live(`says in one line that it ${name}`, () =>
      Effect.gen(function* () {
        const { over } = yield* start(agentRef, file)
        assert.deepStrictEqual(yield* Effect.promise(() => over), { code: 1, stderr })
      })
    )
  }
})
