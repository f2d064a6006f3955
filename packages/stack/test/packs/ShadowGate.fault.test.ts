import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { command } from "../support/CommandLineReads.ts"
import { startServing } from "../support/StackRuns.ts"
import { packsWith } from "../support/TestPacks.ts"

const SCENARIO = "incident/region-failover@1.0.0"
/** The impact agent rejects a failover for so few errors, and the security agent approves it. */
const APART = { severity: "sev3", errorRatePercent: 3 }
/** Both approve. */
const ALIKE = { severity: "sev2", errorRatePercent: 12.5 }
const [AS, AGENT] = ["security-analyst", "impact-agent"]
const SHADOW = `${AS}~${AGENT}`

const shadowedPacks = Effect.gen(function* () {
  const packs = yield* packsWith({})
  const file = join(packs, "incident/scenarios/region-failover/1.0.0/scenario.yaml")
  const text = readFileSync(file, "utf8")
  const changed = text.replace("\n  launch:\n", `\n  launch:\n    shadows: [{ as: ${AS}, agent: ${AGENT} }]\n`)
  assert.notStrictEqual(changed, text)
  writeFileSync(file, changed)
  return packs
})

// docs/reference/gate.md#shadows
layer(Layer.empty, { excludeTestServices: true })("a gate of example agents with a shadow", (it) => {
  it.effect(
    "compares it with its participant over the same sessions, and ends with the code of its verdict",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const { ports } = yield* startServing({ PACKS_DIR: yield* shadowedPacks })
        const at = [
          ...["--url", `http://127.0.0.1:${ports.controlPlane}`],
          ...["--launcher-url", `http://127.0.0.1:${ports.launcher}`]
        ]
        const gate = (name: string, inputs: object, runs: number, ...args: ReadonlyArray<string>) => {
          const file = join(folder, `${name}.yaml`)
          const expect = { positive: true, agreement: 0.1 }
          writeFileSync(file, JSON.stringify({ cases: [{ name, scenarioRef: SCENARIO, inputs, expect }] }))
          const size = ["--runs", String(runs), "--max-runs", String(runs), "--concurrency", "3"]
          return command(["gate", file, ...size, ...args, ...at])
        }
        const worse = yield* gate("worse", APART, 6, "--shadow", SHADOW)
        const alike = yield* gate("alike", ALIKE, 2, "--shadow", SHADOW, "--strict")
        assert.match(
          worse.stderr.join("\n"),
          /^worse: the participant and its shadow differ in 3 of 3 runs: to find a difference of 10 points in 80 of 100 gates needs \d+ runs, and --max-runs allows 6$/m
        )
        // None against six: 2 / 2^6.
        assert.strictEqual(worse.code, 1, worse.stdout.join("\n"))
        assert.include(
          worse.stdout.join("\n"),
          `fail  shadow: ${SHADOW} is right in 0 of 6 runs, its participant in 6: 0 against 6 where they differ, p = 0.031, the shadow is worse`
        )
        assert.strictEqual(alike.code, 6, alike.stdout.join("\n"))
        assert.match(
          alike.stdout.join("\n"),
          /shadow: .* is right in 2 of 2 runs, its participant in 2: .* may be chance/
        )
        assert.match(alike.stderr.join("\n"), /differ in 0 of 1 run: no number of runs follows from that/)
      }),
    { timeout: 300_000 }
  )
})
