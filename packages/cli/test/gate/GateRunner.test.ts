import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { Trial, TrialOutcome } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import { CliFailure, EXIT_CODES } from "../../src/CliFailure.ts"
import { parseGateFile, readGateFile } from "../../src/gate/GateFiles.ts"
import { baselineOfProgress, exitCodeOfReport, recordFault, reportLines, reportOf } from "../../src/gate/GateReport.ts"
import { emptyProgress, type GateLimits, type RunTrial, runGate, type Trials } from "../../src/gate/GateRunner.ts"

const yes: TrialOutcome = { action: "decision.selected", positive: true }
const no: TrialOutcome = { action: "decision.rejected", positive: false }
const plain = { bold: (text: string) => text, dim: (text: string) => text }

const ran = (outcome: TrialOutcome, members: Partial<Trial> = {}) => ({
  trial: { runId: "r", outcome, costUsd: 0.5, durationMs: 1, mindChanges: 0, models: [], ...members }
})

const FILE = `cases:
  - name: one # the first
    scenarioRef: p/s@1.0.0
    expect: { action: decision.selected, mustNot: [decision.forbidden] }
`

const limits: GateLimits = {
  runs: 20,
  maxRuns: 80,
  concurrency: 4,
  maxCostUsd: undefined,
  marksWait: "60 seconds",
  expectedUsd: () => 0,
  baseline: undefined
}

const none = () => Effect.succeed({})

const started = (runTrial: RunTrial, overrides: Partial<GateLimits> = {}) =>
  Effect.gen(function* () {
    const progress = emptyProgress(yield* parseGateFile(FILE, "cases.yaml"))
    let launched = 0
    const counting: RunTrial = (loaded, nth) => {
      launched++
      return runTrial(loaded, nth)
    }
    yield* runGate(progress, { ...limits, ...overrides }, { run: counting, marks: none })
    return { launched, progress, report: reportOf("g", progress, limits, {}) }
  })

describe("a gate file", () => {
  it.effect("is read with the lines of its cases", () =>
    Effect.gen(function* () {
      const [one] = yield* parseGateFile(FILE, "cases.yaml")
      assert.deepInclude(one, { file: "cases.yaml", line: 2 })
    })
  )

  for (const [fault, text] of [
    ["that is not YAML", "cases: ["],
    ["with an unknown member", "cases: [{ name: a, scenarioRef: r, expects: {} }]"],
    ["with a name twice", "cases: [{ name: a, scenarioRef: r }, { name: a, scenarioRef: r }]"],
    ["with an alias of itself", "cases: &all [{ name: a, scenarioRef: r, inputs: { again: *all } }]"],
    ["with an alias of itself at its root", "&root { cases: *root }"],
    ["that is nested a hundred thousand times", `cases: ${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    [
      "whose aliases multiply",
      Array.from({ length: 40 }, (_, at) => `a${at}: &a${at} [${at === 0 ? "1" : `*a${at - 1}, *a${at - 1}`}]`).join(
        "\n"
      )
    ]
  ] as const) {
    it.effect(`${fault} is refused`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(parseGateFile(text, "cases.yaml"))
        assert.strictEqual(failure.code, EXIT_CODES.usage)
        assert.match(failure.message, /^cases\.yaml is not a gate file: /)
      })
    )
  }
})

it.effect("a gate file with an alias of itself gets the reason in its line", () =>
  Effect.gen(function* () {
    const failure = yield* Effect.flip(
      parseGateFile("cases: &all [{ name: a, inputs: { again: *all } }]", "cases.yaml")
    )
    assert.strictEqual(
      failure.message,
      "cases.yaml is not a gate file: an alias stands inside the value that it repeats"
    )
  })
)

it.effect("a gate file that is missing or larger than 1 MB is refused", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped()
    yield* fs.writeFileString(file, "#".repeat(1024 * 1024 + 1))
    const large = yield* Effect.flip(readGateFile(file))
    assert.deepStrictEqual([large.code, large.message], [EXIT_CODES.usage, `${file} is larger than 1 MB`])
    const missing = yield* Effect.flip(readGateFile(`${file}.yaml`))
    assert.strictEqual(missing.message, `${file}.yaml cannot be read (NotFound); name a YAML file`)
  }).pipe(Effect.provide(NodeServices.layer))
)

describe("a gate", () => {
  it.effect("ends a case at its first look with a verdict", () =>
    Effect.gen(function* () {
      const failing = yield* started(() => Effect.succeed(ran(no)))
      assert.deepStrictEqual([failing.launched, failing.report.verdict], [20, "fail"])
      // Three looks need 23 runs in agreement.
      const passing = yield* started(() => Effect.succeed(ran(yes)))
      assert.deepStrictEqual([passing.launched, passing.report.verdict], [40, "pass"])
      const open = yield* started((_, nth) => Effect.succeed(ran(nth % 5 === 0 ? no : yes)))
      assert.deepStrictEqual([open.launched, open.report.verdict], [80, "inconclusive"])
    })
  )

  it.effect("launches no more runs after a forbidden outcome", () =>
    Effect.gen(function* () {
      const forbidden = ran({ action: "decision.forbidden", positive: null })
      const { launched, report } = yield* started(() => Effect.succeed(forbidden))
      assert.isAtMost(launched, limits.concurrency)
      assert.strictEqual(report.verdict, "fail")
    })
  )

  it.effect("launches no more runs when its budget is used up, and ends with 7", () =>
    Effect.gen(function* () {
      const { launched, progress } = yield* started(() => Effect.succeed(ran(yes)), { maxCostUsd: 3 })
      assert.isAtMost(launched, 6 + limits.concurrency)
      assert.isTrue(progress.isOutOfBudget)
      const report = reportOf("g", progress, limits, { end: "budget" })
      assert.strictEqual(exitCodeOfReport(report, false), EXIT_CODES.budget)
    })
  )

  it.effect("stays within its budget with the runs that are under way", () =>
    Effect.gen(function* () {
      const costly = Effect.delay(Effect.succeed(ran(yes, { costUsd: 1 })), "1 second")
      const gate = yield* Effect.forkChild(started(() => costly, { maxCostUsd: 6, expectedUsd: () => 1 }))
      yield* TestClock.adjust("1 minute")
      const { launched, progress } = yield* Fiber.join(gate)
      assert.deepStrictEqual([launched, progress.spentUsd, progress.isOutOfBudget], [6, 6, true])
    })
  )

  it.effect("says that the open runs have exceeded the budget", () =>
    Effect.gen(function* () {
      const costly = Effect.delay(Effect.succeed(ran(yes, { costUsd: 2 })), "1 second")
      const gate = yield* Effect.forkChild(started(() => costly, { maxCostUsd: 3 }))
      yield* TestClock.adjust("1 minute")
      const { progress } = yield* Fiber.join(gate)
      const report = reportOf("g", progress, limits, { end: "budget", maxCostUsd: 3 })
      assert.include(reportLines(report, plain).join("\n"), "$8.00 of $3.00, exceeded by the runs that were open")
      assert.strictEqual(exitCodeOfReport(report, false), EXIT_CODES.budget)
    })
  )

  it.effect("fails as unmeasured when every launch fails, and does not go on", () =>
    Effect.gen(function* () {
      const dead = { ...ran({ action: "failed", positive: null }, { excluded: "failed" }), failure: "agent a: exit 1" }
      const { launched, report } = yield* started(() => Effect.succeed(dead))
      assert.strictEqual(launched, 20)
      assert.deepStrictEqual(
        [report.verdict, exitCodeOfReport(report, false), exitCodeOfReport(report, true)],
        ["fail", EXIT_CODES.unmeasured, EXIT_CODES.unmeasured]
      )
      assert.strictEqual(recordFault(report, limits), "one has 0 counted runs of 20 planned ones")
      const text = reportLines(report, plain).join("\n")
      assert.include(text, "no run reached a decision, 20 failed")
      assert.include(text, "a run failed: agent a: exit 1")
    })
  )

  it.effect("fails when a service cannot be reached", () =>
    Effect.gen(function* () {
      const away = new CliFailure({ reason: "away", code: EXIT_CODES.unreachable })
      assert.strictEqual(yield* Effect.flip(started(() => Effect.fail(away))), away)
      const { progress } = yield* started(() => Effect.succeed(ran(yes)))
      const report = reportOf("g", progress, limits, { end: "unreachable" })
      assert.deepStrictEqual(
        [report.verdict, exitCodeOfReport(report, false)],
        ["inconclusive", EXIT_CODES.unreachable]
      )
    })
  )

  it.effect("reports the runs that it had when it was interrupted, and ends with 1", () =>
    Effect.gen(function* () {
      const progress = emptyProgress(yield* parseGateFile(FILE, "cases.yaml"))
      const open = yield* Effect.forkChild(
        runGate(progress, limits, {
          run: (_, nth) => (nth < 3 ? Effect.succeed(ran(yes)) : Effect.never),
          marks: none
        }),
        { startImmediately: true }
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(open)
      const report = reportOf("g", progress, limits, { end: "interrupted" })
      assert.strictEqual(report.cases[0]?.stability.n, 3)
      assert.strictEqual(exitCodeOfReport(report, false), EXIT_CODES.failed)
      assert.include(reportLines(report, plain).join("\n"), "the gate was interrupted")
    })
  )

  it.effect("compares with the baseline that it recorded", () =>
    Effect.gen(function* () {
      const before = yield* started(() => Effect.succeed(ran(yes)))
      const baseline = baselineOfProgress(before.progress, limits, "2026-07-01T10:00:00.000Z")
      const same = reportOf("g", before.progress, limits, { baseline })
      assert.strictEqual(same.verdict, "pass")
      assert.isUndefined(recordFault(same, limits))
      const worse = yield* started((_, nth) => Effect.succeed(ran(nth % 4 === 0 ? no : yes)))
      const report = reportOf("g", worse.progress, limits, { baseline })
      assert.include(report.cases[0]?.checks.map(({ name, verdict }) => `${name} ${verdict}`) ?? [], "baseline fail")
      assert.deepStrictEqual(report.cases[0]?.warnings, ["new outcome decision.rejected (negative) (20)"])
    })
  )
})

describe("a gate with a baseline", () => {
  it.effect("plays more runs of a case whose drop may be chance, until it is clear", () =>
    Effect.gen(function* () {
      const before = yield* started(() => Effect.succeed(ran(yes)), { runs: 40, maxRuns: 40 })
      const plan = { ...limits, runs: 40, maxRuns: 40 }
      const baseline = baselineOfProgress(before.progress, plan, "2026-07-01T10:00:00.000Z")
      // Of 20 runs 3 differ; the expected outcome is demanded of less than half of them.
      const file = FILE.replace("action: decision.selected,", "action: decision.selected, agreement: 0.4,")
      const progress = emptyProgress(yield* parseGateFile(file, "cases.yaml"))
      let launched = 0
      const service: Trials = {
        run: (_, nth) =>
          Effect.sync(() => {
            launched++
            return ran([0, 7, 13].includes(nth % 20) ? no : yes)
          }),
        marks: none
      }
      yield* runGate(progress, { ...limits, baseline }, service)
      const report = reportOf("g", progress, limits, { baseline })
      assert.strictEqual(launched, 40)
      assert.include(report.cases[0]?.checks.map(({ name, verdict }) => `${name} ${verdict}`) ?? [], "baseline fail")
    })
  )
})

describe("the gates of agents that decide by a known coin", () => {
  /** A gate of agents that say yes with this probability. */
  const coinGate = (probability: number, seed: number) =>
    started(() => Effect.map(Random.next, (drawn) => ran(drawn < probability ? yes : no))).pipe(Random.withSeed(seed))

  it.effect("have the verdict of the coin", () =>
    Effect.gen(function* () {
      for (const [probability, verdict] of [
        [0.5, "fail"],
        [0.6, "fail"],
        [0.98, "pass"],
        [1, "pass"]
      ] as const) {
        const { report } = yield* coinGate(probability, 1)
        assert.strictEqual(report.verdict, verdict, `${probability}`)
      }
    })
  )

  it.effect("do not fail in 50 unchanged gates against their first one", () =>
    Effect.gen(function* () {
      for (const probability of [0.85, 0.9, 0.95, 1]) {
        const first = yield* coinGate(probability, 1_000)
        const baseline = baselineOfProgress(first.progress, limits, "2026-07-01T10:00:00.000Z")
        for (let gate = 1; gate <= 50; gate++) {
          const { progress } = yield* coinGate(probability, gate)
          const { verdict } = reportOf("g", progress, limits, { baseline })
          assert.notStrictEqual(verdict, "fail", `gate ${gate} of ${probability}`)
        }
      }
    })
  )
})

describe("the marks of a gate", () => {
  const demanding = `cases:
  - name: one
    scenarioRef: p/s@1.0.0
    expect: { action: decision.selected, marks: { quality: { min: 0.7 } } }
`
  /** A gate whose runs get their marks from `marks`, by the seconds since its start. */
  const marked = Effect.fnUntraced(function* (marks: (seconds: number) => Effect.Success<ReturnType<Trials["marks"]>>) {
    const progress = emptyProgress(yield* parseGateFile(demanding, "cases.yaml"))
    let launched = 0
    const service: Trials = {
      run: () => Effect.sync(() => ran(yes, { runId: `r${launched++}` })),
      marks: () => Effect.map(Clock.currentTimeMillis, (ms) => marks(ms / 1_000))
    }
    const gate = yield* Effect.forkChild(runGate(progress, limits, service))
    yield* TestClock.adjust("10 minutes")
    yield* Fiber.join(gate)
    const { cases } = reportOf("g", progress, limits, {})
    return { launched, check: cases[0]?.checks.find(({ name }) => name === "marks.quality") }
  })

  it.effect("count although they arrive after the runs", () =>
    Effect.gen(function* () {
      const passing = yield* marked((seconds) => (seconds < 30 ? {} : { quality: 0.9 }))
      assert.strictEqual(passing.check?.verdict, "pass")
      const failing = yield* marked(() => ({ quality: 0 }))
      assert.deepStrictEqual([failing.launched, failing.check?.verdict], [20, "fail"])
    })
  )

  it.effect("that never arrive end the gate after its wait, inconclusive", () =>
    Effect.gen(function* () {
      const { check, launched } = yield* marked((seconds) => (seconds < 65 ? {} : { quality: 0.9 }))
      assert.deepStrictEqual([launched, check?.verdict], [20, "inconclusive"])
      assert.strictEqual(check?.message, "no run has the mark quality, at least 10 needed")
    })
  )
})
