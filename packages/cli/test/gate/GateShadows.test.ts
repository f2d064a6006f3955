import { assert, describe, it } from "@effect/vitest"
import type { ShadowPair } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { parseGateFile } from "../../src/gate/GateFiles.ts"
import { exitCodeOfReport, reportOf } from "../../src/gate/GateReport.ts"
import { emptyProgress, type GateLimits, runGate } from "../../src/gate/GateRunner.ts"

const NAME = "risk~new"
const FILE = "cases: [{ name: one, scenarioRef: p/s@1.0.0, expect: { positive: true, agreement: 0.5 } }]"
const plan = { runs: 20, maxRuns: 40 }

const gated = Effect.fnUntraced(function* (pairOf: (nth: number) => Omit<ShadowPair, "runId">) {
  const progress = emptyProgress(yield* parseGateFile(FILE, "cases.yaml"))
  const halves: Array<readonly [runs: number, pairs: number]> = []
  const shadow: GateLimits["shadow"] = {
    name: NAME,
    onHalf: (_, pairs) => Effect.sync(() => void halves.push([progress.cases[0]?.ran.length ?? 0, pairs.length]))
  }
  const limits: GateLimits = {
    ...plan,
    shadow,
    concurrency: 4,
    maxCostUsd: undefined,
    marksWait: "60 seconds",
    expectedUsd: () => 0,
    baseline: undefined
  }
  yield* runGate(progress, limits, {
    run: (_, nth) =>
      Effect.succeed({
        trial: {
          ...{ runId: `r${nth}`, outcome: { action: "decision.selected", positive: true }, costUsd: 0, durationMs: 1 },
          ...{ mindChanges: 0, models: [] }
        },
        pair: { runId: `r${nth}`, ...pairOf(nth) }
      }),
    marks: () => Effect.succeed({})
  })
  const report = reportOf("g", progress, { ...plan, shadow }, {})
  return { halves, report, runs: progress.cases[0]?.ran.length }
})

describe("a gate with a shadow", () => {
  it.effect("reports the first half before it launches the second one", () =>
    Effect.gen(function* () {
      const { halves } = yield* gated(() => ({ participant: true, shadow: true }))
      assert.deepStrictEqual(halves, [[10, 10]])
    })
  )

  it.effect("fails at its first look where the shadow is clearly worse", () =>
    Effect.gen(function* () {
      const { report, runs } = yield* gated((nth) => ({ participant: true, shadow: nth % 2 === 0 }))
      const check = report.cases[0]?.checks.find(({ name }) => name === "shadow")
      assert.deepInclude(check, { verdict: "fail" })
      assert.match(check?.message ?? "", /^risk~new is right in 10 of 20 runs, its participant in 20: 0 against 10 /)
      assert.strictEqual(runs, 20)
      assert.strictEqual(exitCodeOfReport(report, false), 1)
    })
  )

  it.effect("passes where the shadow is better", () =>
    Effect.gen(function* () {
      const { report } = yield* gated((nth) => ({ participant: nth % 2 === 0, shadow: true }))
      assert.strictEqual(report.verdict, "pass")
    })
  )

  it.effect("takes all its runs where the two do not differ, and is inconclusive", () =>
    Effect.gen(function* () {
      const { report, runs } = yield* gated(() => ({ participant: true, shadow: true }))
      assert.strictEqual(runs, 40)
      assert.strictEqual(report.verdict, "inconclusive")
      assert.deepStrictEqual([exitCodeOfReport(report, false), exitCodeOfReport(report, true)], [0, 6])
    })
  )
})
