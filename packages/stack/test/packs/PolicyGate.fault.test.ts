import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { command } from "../support/CommandLineReads.ts"
import { startServing } from "../support/StackRuns.ts"
import { packsWith } from "../support/TestPacks.ts"

const SCENARIO = "incident/scenarios/region-failover/1.0.0/scenario.yaml"
const BEFORE = "policy.incident.balanced"
const AFTER = "policy.incident.fast-track"

/** Two of three specialists approve: a majority, and just not the two thirds of the other policy. */
const INPUTS = { severity: "sev2", errorRatePercent: 21, replicationLagSeconds: 40 }
const RUNS = ["--runs", "4", "--max-runs", "4", "--concurrency", "4"]
/** What the lead of the group reads of the other policy. */
const HINTS = "type: supermajority\nthreshold: 0.67\nvetoEnabled: false\n"

// docs/reference/gate.md#baseline
layer(Layer.empty, { excludeTestServices: true })("a gate of example agents whose policy was changed", (it) => {
  it.effect("names the policy as the first candidate for the cause, also where every run flips", () =>
    Effect.gen(function* () {
      const packs = yield* packsWith({})
      const folder = yield* temporaryFolder
      const { ports } = yield* startServing({ PACKS_DIR: packs })
      const scenarioRef = "incident/region-failover@1.0.0"
      const file = join(folder, "gate.yaml")
      const expect = { action: "decision.selected", agreement: 0.2 }
      const cases = [{ name: "doubtful replica", scenarioRef, inputs: INPUTS, vary: { seed: 4 }, expect }]
      writeFileSync(file, JSON.stringify({ cases }))
      const baseline = join(folder, "baseline.json")
      const here = ["--url", `http://127.0.0.1:${ports.controlPlane}`]
      const gate = (...args: ReadonlyArray<string>) =>
        command(["gate", file, ...RUNS, ...args, ...here, "--launcher-url", `http://127.0.0.1:${ports.launcher}`])

      const recorded = yield* gate("--record", baseline)
      assert.strictEqual(recorded.code, 0, recorded.stdout.join("\n"))
      const unchanged = yield* gate("--baseline", baseline)
      assert.strictEqual(unchanged.code, 0, unchanged.stdout.join("\n"))
      assert.notInclude(unchanged.stdout.join("\n"), "policy.incident")

      const scenario = join(packs, SCENARIO)
      const text = readFileSync(scenario, "utf8")
      const changed = text.replace(BEFORE, AFTER).replace("incident-balanced.yaml", "incident-fast-track.yaml")
      assert.notStrictEqual(changed, text)
      writeFileSync(scenario, changed)
      writeFileSync(join(packs, "_shared/policy-hints/incident-fast-track.yaml"), HINTS)
      const regressed = yield* gate("--baseline", baseline)
      assert.strictEqual(regressed.code, 1, regressed.complaint)
      const [verdict, change, ...rest] = regressed.stdout.join("\n").split("\n")
      assert.include(verdict, "FAIL")
      assert.strictEqual(change?.trim(), `changed since the baseline: policy ${BEFORE} -> ${AFTER}`)
      const report = rest.join("\n")
      assert.include(report, "4  decision.rejected (negative)")
      assert.match(report, /^ {2}4 of 4 parted where incident-commander voted REJECT/m)
      assert.include(report, "fail  baseline: 0 of 4 runs agree, in the baseline 4 of 4 (p = 0.014)")
    })
  )
})
