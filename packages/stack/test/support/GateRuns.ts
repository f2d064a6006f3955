import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { isTerminal } from "@runplane/domain"
import { temporaryFolder } from "@runplane/postgres"
import { programFile, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { command } from "./CommandLineReads.ts"

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url))
const MAIN = join(ROOT, "packages/stack/src/runplane/main.ts")

interface Ports {
  readonly controlPlane: number
  readonly launcher: number
}

const url = (port: number) => `http://127.0.0.1:${port}`

/** A gate file of the packs with an agreement that few runs can have; all else stays. */
const relaxed = (text: string, agreement: number) =>
  text.replace(/^ +agreement: .*\n/gm, "").replace(/^( +)expect:$/gm, `$1expect:\n$1  agreement: ${agreement}`)

/**
 * Plays each gate file of the packs with few runs, the one that fails on purpose too, and the ends of a gate without a
 * verdict (docs/reference/gate.md#exit-codes). `packsDir` has the packs of the stack; an agent of them breaks.
 */
export const checkGates = Effect.fnUntraced(function* ({ controlPlane, launcher }: Ports, packsDir: string) {
  const folder = yield* temporaryFolder
  const here = ["--url", url(controlPlane), "--launcher-url", url(launcher)]
  const copy = (file: string, agreement: number) => {
    const path = join(folder, file.replaceAll("/", "-"))
    writeFileSync(path, relaxed(readFileSync(join(ROOT, "packs", file), "utf8"), agreement))
    return path
  }
  const gate = (...args: ReadonlyArray<string>) => command(["gate", ...args, ...here])

  const packs = readdirSync(join(ROOT, "packs")).filter((name) => !/^[_.]|\.md$/.test(name))
  const passing = yield* gate(...packs.map((pack) => copy(`${pack}/gate.yaml`, 0.2)), "--runs", "1", "--max-runs", "1")
  assert.deepStrictEqual([passing.code, passing.complaint], [0, ""], passing.stdout.join("\n"))
  assert.notMatch(passing.stdout.join("\n"), /^(FAIL|INCONCLUSIVE)/m)

  const fails = yield* gate(copy("incident/gate-fails.yaml", 0.5), "--runs", "4", "--max-runs", "4")
  assert.match(fails.stdout.join("\n"), /^ {2}[12] of 4 parted where \S+ /m)

  const broke = yield* gate(
    copy("incident/gate.yaml", 0.2),
    "--runs",
    "2",
    "--concurrency",
    "1",
    "--max-cost",
    "0.0001"
  )
  assert.strictEqual(broke.code, 7)
  assert.include(broke.stdout.join("\n"), "the budget of the gate is used up")

  const away = yield* command([
    "gate",
    copy("incident/gate.yaml", 0.2),
    "--runs",
    "1",
    "--url",
    url(1),
    ...here.slice(2)
  ])
  assert.deepStrictEqual([away.code, away.stdout], [5, []])
  assert.match(away.complaint, /^http:\/\/127\.0\.0\.1:1 cannot be reached: /)

  const undecided = join(folder, "undecided.yaml")
  const inputs = JSON.parse(
    readFileSync(join(ROOT, "packs/privacy/scenarios/erasure-request/1.0.0/fixtures/no-erasure-log.json"), "utf8")
  )
  const scenarioRef = "privacy/erasure-request@1.0.0"
  const cases = [{ name: "undecided", scenarioRef, inputs, expect: { agreement: 0.2 } }]
  writeFileSync(undecided, JSON.stringify({ cases }))
  const open = yield* gate(undecided, "--runs", "1", "--strict")
  assert.strictEqual(open.code, 8)
  assert.include(open.stdout.join("\n"), "no run reached a decision, 1 cancelled")

  yield* checkInterruption({ controlPlane, launcher }, copy("support/gate.yaml", 0.2))

  const manifest = join(packsDir, "_agents/manifests/privacy-officer-agent.json")
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"privacy-officer-agent"]', '"unknown-agent"]'))
  const dead = yield* gate(undecided, "--runs", "1")
  assert.strictEqual(dead.code, 8)
  assert.match(dead.stdout.join("\n"), /no run reached a decision, 1 failed[\s\S]*a run failed: .*privacy-officer/)
})

/** Ctrl-C: the gate cancels its open runs, prints the report, and ends with 1. */
const checkInterruption = Effect.fnUntraced(
  function* ({ controlPlane, launcher }: Ports, file: string) {
    const { api } = yield* ControlPlaneClient
    const program = programFile("runplane", MAIN)
    const env = {
      ...process.env,
      ...program.env,
      RUNPLANE_URL: url(controlPlane),
      RUNPLANE_LAUNCHER_URL: url(launcher)
    }
    const running = yield* startProgram(program.main, { args: ["gate", file, "--runs", "2"], env })
    const query = { limit: 10, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: false } as const
    const runsOfGate = Effect.map(
      api.runs.list({ query: { ...query, tags: ["case:double charge"] } }),
      ({ data }) => data
    )
    const every = Schedule.spaced("50 millis")
    const before = (yield* runsOfGate).length
    yield* Effect.repeat(runsOfGate, { until: (runs) => runs.length > before, schedule: every })
    const { code, stdout } = yield* running.kill("SIGINT")
    assert.strictEqual(code, 1)
    assert.include(stdout.join("\n"), "the gate was interrupted; its open runs are cancelled")
    const ended = yield* Effect.repeat(runsOfGate, {
      until: (runs) => runs.every(({ status }) => isTerminal(status)),
      schedule: every
    })
    assert.isAbove(ended.length, before)
  },
  (effect, ports) =>
    Effect.provide(
      effect,
      ControlPlaneClient.layer({ baseUrl: url(ports.controlPlane) }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
    )
)
