import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@runplane/sandbox"
import { freePorts, otlpCollector, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EXAMPLE_AGENTS } from "../../src/examples/Agents.ts"
import { BRIDGE, balanced, balancedHints, bootstrapFor, degraded, type Launch } from "../support/Bridge.ts"

const main = fileURLToPath(new URL("../../src/examples/main.ts", import.meta.url))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "agents-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** An agent as the launch service starts it, its standard input being a pipe that this process holds. */
const start = (
  agentRef: string,
  bootstrapFile: string | undefined,
  variables: Readonly<Record<string, string>> = {}
) => {
  const { PROTO_BOOTSTRAP_FILE: _, MACP_BOOTSTRAP_FILE: __, ...env } = process.env
  return startProgram(main, {
    args: ["--agent", agentRef],
    env: { ...env, ...variables, ...(bootstrapFile !== undefined && { PROTO_BOOTSTRAP_FILE: bootstrapFile }) }
  })
}

const writeBootstrap = (
  directory: string,
  participant: string,
  launch: Launch,
  more: Readonly<Record<string, string>> = {}
): string => {
  const file = join(directory, `${participant}.json`)
  writeFileSync(file, JSON.stringify({ ...bootstrapFor(participant, launch), ...more }))
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

  it.live("exports its work as spans with the token of its bootstrap file, and is done when the receiver is away", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const collector = yield* otlpCollector
      yield* sandbox.registerPolicy(balanced)
      const launch = launchOn(sandbox.address)
      const directory = yield* folder
      const [nowhere = 0] = yield* freePorts(1)
      const variables = (participant: string) => ({
        OTEL_EXPORTER_OTLP_ENDPOINT:
          participant === "impact-analyst" ? `http://127.0.0.1:${nowhere}` : `${collector.url}/`,
        OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=sends%2Conly"
      })
      const agents = yield* Effect.forEach(BRIDGE, ([participant, agentRef]) =>
        start(
          agentRef,
          writeBootstrap(directory, participant, launch, { otlp_headers: "x-runplane-join=token" }),
          variables(participant)
        )
      )
      const exits = yield* Effect.forEach(agents, ({ ended }) => ended)
      assert.deepStrictEqual(
        exits.map(({ code }) => code),
        BRIDGE.map(() => 0)
      )
      assert.isNotEmpty(collector.headers)
      for (const headers of collector.headers) {
        assert.deepStrictEqual([headers["x-api-key"], headers["x-runplane-join"]], ["sends,only", "token"])
      }
      const exporting = BRIDGE.map(([participant]) => participant).filter((one) => one !== "impact-analyst")
      const named = (operation: string) =>
        collector.spans.filter(({ attributes }) => attributes["gen_ai.operation.name"] === operation)
      assert.sameMembers(
        named("invoke_agent").map(({ name }) => name),
        exporting.map((one) => `invoke_agent ${one}`)
      )
      assert.sameMembers(
        named("chat").map(({ attributes }) => attributes["gen_ai.agent.name"]),
        exporting
      )
      for (const { resource } of collector.spans) assert.strictEqual(resource["macp.session.id"], launch.sessionId)
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
