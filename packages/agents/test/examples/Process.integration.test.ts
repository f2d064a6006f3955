import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@runplane/sandbox"
import { startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EXAMPLE_AGENTS } from "../../src/examples/Agents.ts"
import { BRIDGE, balanced, balancedHints, bootstrapFor, degraded, type Launch } from "../support/Bridge.ts"

const main = fileURLToPath(new URL("../../src/examples/main.ts", import.meta.url))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "agents-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** An agent as the launch service starts it, its standard input being a pipe that this process holds. */
const start = (agentRef: string, bootstrapFile: string | undefined) => {
  const { PROTO_BOOTSTRAP_FILE: _, MACP_BOOTSTRAP_FILE: __, ...env } = process.env
  return startProgram(main, {
    args: ["--agent", agentRef],
    env: bootstrapFile === undefined ? env : { ...env, PROTO_BOOTSTRAP_FILE: bootstrapFile }
  })
}

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
      const exits = yield* Effect.forEach(agents, ({ ended }) => ended)
      assert.deepStrictEqual(
        exits.map(({ code, stderr }) => ({ code, stderr })),
        BRIDGE.map(() => ({ code: 0, stderr: [] }))
      )
      const history = yield* sandbox.acceptedHistory(launch.sessionId)
      assert.strictEqual(history.at(-1)?.messageType, "Commitment")
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("exits when its standard input ends, because its host has ended", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const file = writeBootstrap(yield* folder, "impact-analyst", launchOn(sandbox.address))
      const { endInput, ended } = yield* start("impact-agent", file)
      endInput()
      const { code, stderr } = yield* ended
      assert.deepStrictEqual([code, ...stderr], [1, "impact-agent: standard input ended: the host is gone"])
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  const failures: ReadonlyArray<readonly [string, string, string | undefined, string]> = [
    [
      "has no bootstrap file",
      "impact-agent",
      undefined,
      "impact-agent: neither PROTO_BOOTSTRAP_FILE nor MACP_BOOTSTRAP_FILE is set"
    ],
    [
      "cannot read it",
      "impact-agent",
      "/nowhere/b.json",
      "impact-agent: bootstrap file /nowhere/b.json cannot be read"
    ],
    [
      "is not known",
      "stranger",
      undefined,
      `stranger: unknown agent "stranger", known are ${Object.keys(EXAMPLE_AGENTS).join(", ")}`
    ]
  ]
  for (const [name, agentRef, file, line] of failures) {
    it.live(`says in one line that it ${name}`, () =>
      Effect.gen(function* () {
        const { ended } = yield* start(agentRef, file)
        const { code, stderr } = yield* ended
        assert.deepStrictEqual([code, ...stderr], [1, line])
      })
    )
  }
})
