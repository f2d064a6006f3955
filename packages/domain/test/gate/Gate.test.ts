import { assert, describe, it } from "@effect/vitest"
import {
  caseRun,
  checksOf,
  type Expectations,
  GateFile,
  impossibleDemand,
  looksOf,
  markMean,
  repeatedNames,
  stabilityBy,
  stabilityOf,
  type Trial,
  worstOf
} from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { coin, trial, uniform } from "../support/trials.ts"

const yes = { action: "decision.selected", positive: true }
const no = { action: "decision.rejected", positive: false }
const trials = (...groups: ReadonlyArray<readonly [count: number, outcome: Trial["outcome"]]>) =>
  groups.flatMap(([count, outcome]) => Array.from({ length: count }, () => trial({ outcome })))
const failedRuns = (count: number) =>
  Array.from({ length: count }, () => trial({ outcome: { action: "failed", positive: null }, excluded: "failed" }))

/** A plan of so many looks, which all of the runs count for. */
const planOf = (runs: number, looks: number) => ({
  runs,
  maxRuns: looks === 1 ? runs : looks === 2 ? 2 * runs : 4 * runs
})
const verdictOf = (expect: Expectations, runs: ReadonlyArray<Trial>, plan = planOf(Math.max(1, runs.length), 1)) =>
  worstOf(checksOf(expect, runs, plan).map(({ verdict }) => verdict))

describe("a case file", () => {
  const decode = Schema.decodeUnknownResult(GateFile, { onExcessProperty: "error" })

  it("is read with all of its members", () => {
    const file = {
      cases: [
        {
          name: "a",
          scenarioRef: "p/s@1.0.0",
          template: "t",
          inputs: { lag: 5 },
          vary: { seed: 3, model: ["m"], inputs: [{ lag: 6 }] },
          expect: {
            action: "x",
            positive: true,
            agreement: 0.9,
            mustNot: ["y"],
            maxCostUsd: { p95: 1 },
            maxDurationMs: { p95: 1 },
            noNewFlips: true,
            minDrop: 0.2,
            marks: { quality: { min: 0.7 } }
          }
        }
      ]
    }
    assert.deepStrictEqual(Result.getOrThrow(decode(file)), file)
  })

  for (const [fault, file] of [
    ["without cases", { cases: [] }],
    ["with a demand of everything", { cases: [{ name: "a", scenarioRef: "r", expect: { agreement: 1 } }] }],
    ["with a name that is not a tag", { cases: [{ name: "x".repeat(196), scenarioRef: "r" }] }],
    ["with an unknown member", { cases: [{ name: "a", scenarioRef: "r", expects: {} }] }]
  ] as const) {
    it(`${fault} is refused`, () => assert.isTrue(Result.isFailure(decode(file))))
  }

  it("reports the names that repeat", () =>
    assert.deepStrictEqual(repeatedNames({ cases: ["a", "b", "a"].map((name) => ({ name, scenarioRef: "r" })) }), [
      "a"
    ]))

  it("varies models and inputs first, then the seed, and begins again", () => {
    const one = {
      name: "a",
      scenarioRef: "r",
      inputs: { x: 1, y: 1 },
      vary: { seed: ["s", 7], model: ["m1", "m2"], inputs: [{ x: 2 }, { x: 3 }] }
    }
    const runs = Array.from({ length: 9 }, (_, nth) => caseRun(one, nth))
    assert.deepStrictEqual(runs[0], { inputs: { x: 2, y: 1 }, seed: "s", model: "m1", variant: "model=m1 inputs=1" })
    assert.strictEqual(new Set(runs.slice(0, 8).map((run) => JSON.stringify(run))).size, 8)
    assert.deepStrictEqual(runs[8], runs[0])
    assert.deepStrictEqual(
      [0, 1, 2].map((nth) => caseRun({ name: "a", scenarioRef: "r", vary: { seed: 2 } }, nth).seed),
      [1, 2, 1]
    )
    assert.deepStrictEqual(caseRun({ name: "a", scenarioRef: "r" }, 3), { inputs: {} })
  })
})

describe("an impossible demand", () => {
  it("is reported with the number of runs that it needs", () => {
    const plan = { runs: 20, maxRuns: 20 }
    assert.strictEqual(
      impossibleDemand({ agreement: 0.9 }, plan),
      "agreement 0.9 needs at least 35 runs; 20 of 20 runs have a lower bound of 0.84 with 1 look"
    )
    assert.match(impossibleDemand({ agreement: 0.9 }, { runs: 12, maxRuns: 48 }) ?? "", /at least 52 runs/)
    assert.isUndefined(impossibleDemand({}, plan))
    assert.isUndefined(impossibleDemand({ agreement: 0.9 }, { runs: 20, maxRuns: 80 }))
  })
})

describe("the verdict of a case", () => {
  it("passes, fails, or stays open by the interval", () => {
    assert.strictEqual(verdictOf({ action: yes.action }, trials([16, yes])), "pass")
    assert.strictEqual(verdictOf({ action: yes.action }, trials([16, yes]), planOf(16, 3)), "inconclusive")
    assert.strictEqual(verdictOf({ action: yes.action }, trials([17, yes], [3, no])), "inconclusive")
    assert.strictEqual(verdictOf({ action: yes.action }, trials([10, yes], [10, no])), "fail")
    assert.strictEqual(verdictOf({ positive: false }, trials([20, yes])), "fail")
    assert.strictEqual(verdictOf({}, trials([20, no])), "pass")
  })

  it("fails at once for a forbidden action, also of a run that failed", () => {
    assert.strictEqual(verdictOf({ mustNot: [no.action] }, trials([99, yes], [1, no])), "fail")
    assert.strictEqual(verdictOf({ mustNot: [no.action] }, trials([99, yes])), "pass")
    assert.strictEqual(verdictOf({ mustNot: ["failed"] }, [...trials([99, yes]), ...failedRuns(1)]), "fail")
  })

  it("is open when no run reached a decision, and says so", () => {
    const [runs, check] = checksOf({}, failedRuns(3), planOf(20, 1))
    assert.deepStrictEqual(runs, {
      name: "runs",
      verdict: "fail",
      message: "0 of 20 planned runs count: 3 failed"
    })
    assert.deepStrictEqual(check, {
      name: "agreement",
      verdict: "inconclusive",
      message: "no run reached a decision, 3 failed"
    })
    const none = trials([20, { action: "none", positive: null }])
    assert.strictEqual(verdictOf({}, none), "inconclusive")
    assert.strictEqual(verdictOf({ action: yes.action }, none), "fail")
  })

  it.each([
    [0, 20, true],
    [9, 11, true],
    [10, 10, false],
    [20, 0, false]
  ])("fails with %i counted runs and %i dead ones of 20 planned: %s", (counted, dead, fails) => {
    const checks = checksOf({ action: yes.action }, [...trials([counted, yes]), ...failedRuns(dead)], planOf(20, 1))
    assert.strictEqual(
      checks.some(({ name, verdict }) => name === "runs" && verdict === "fail"),
      fails
    )
  })

  it("fails when no run has ended", () => {
    const [runs] = checksOf({}, [], planOf(20, 1))
    assert.strictEqual(runs?.message, "0 of 20 planned runs count: no run has ended")
  })

  it("limits the 95th percentiles of cost and duration", () => {
    const costly = Array.from({ length: 20 }, () => trial({ outcome: yes, costUsd: 2, durationMs: 500 }))
    assert.strictEqual(verdictOf({ maxCostUsd: { p95: 2 }, maxDurationMs: { p95: 500 } }, costly), "pass")
    assert.strictEqual(verdictOf({ maxCostUsd: { p95: 1.9 } }, costly), "fail")
    assert.strictEqual(verdictOf({ maxDurationMs: { p95: 400 } }, costly), "fail")
    const mixed = costly.map((run, at) => ({ ...run, costUsd: at < 2 ? 3 : 1 }))
    assert.strictEqual(verdictOf({ maxCostUsd: { p95: 2 } }, mixed), "inconclusive")
    // The 95th percentile of these is 1, and may be 3.
    const rare = costly.map((run, at) => ({ ...run, costUsd: at < 1 ? 3 : 1 }))
    assert.strictEqual(verdictOf({ maxCostUsd: { p95: 2 } }, rare), "inconclusive")
  })
})

describe("the marks of a case", () => {
  const marked = (values: ReadonlyArray<number | undefined>) =>
    values.map((quality) => trial({ outcome: yes, ...(quality !== undefined && { marks: { quality } }) }))
  const checkOf = (values: ReadonlyArray<number | undefined>, min = 0.7, looks = 1) =>
    checksOf({ action: yes.action, marks: { quality: { min } } }, marked(values), planOf(values.length, looks)).at(-1)
  const repeated = (count: number, value?: number) => Array.from({ length: count }, () => value)

  it("have a mean that passes, fails or stays open by its interval", () => {
    assert.deepStrictEqual(checkOf(repeated(20, 1)), {
      name: "marks.quality",
      verdict: "pass",
      message: "the mean of quality in 20 of 20 runs is 1.00 (between 0.84 and 1.00), demanded 0.7"
    })
    assert.strictEqual(checkOf([...repeated(10, 0.2), ...repeated(10, 0.4)])?.verdict, "fail")
    assert.strictEqual(checkOf([...repeated(10, 0.5), ...repeated(10, 0.9)])?.verdict, "inconclusive")
    assert.strictEqual(checkOf([...repeated(10, 0.7), ...repeated(10, 0.8)])?.verdict, "pass")
  })

  it("are inconclusive without marks of half of the runs, five at least", () => {
    assert.deepStrictEqual(
      [checkOf(repeated(20))?.message, checkOf([...repeated(9, 1), ...repeated(11)])?.message],
      ["no run has the mark quality, at least 10 needed", "9 of 20 runs have the mark quality, at least 10 needed"]
    )
    assert.strictEqual(checkOf([...repeated(10, 1), ...repeated(10)])?.verdict, "pass")
    assert.strictEqual(checkOf(repeated(4, 1))?.verdict, "inconclusive")
  })

  it("of a run are numbers and flags, and no categories", () => {
    assert.strictEqual(markMean([0.5, true, "good", false, undefined]), 0.5)
    assert.isUndefined(markMean(["good", undefined]))
  })

  for (const min of [0.5, 0.7, 0.9]) {
    it(`are wrong in under 5 % of 2,000 cases with scores around ${min}`, () => {
      // Scores from a uniform distribution with a mean just on the wrong side.
      for (const [mean, wrong] of [
        [min - 0.001, "pass"],
        [min + 0.001, "fail"]
      ] as const) {
        const found = Array.from({ length: 2_000 }, (_, seed) => {
          const next = uniform(seed)
          const values = Array.from({ length: 80 }, () => mean + (next() - 0.5) / 5)
          return [20, 40, 80].some((size) => checkOf(values.slice(0, size), min, 3)?.verdict === wrong)
        })
        assert.isBelow(found.filter((isWrong) => isWrong).length / found.length, 0.05)
      }
    })
  }
})

describe("the stability of runs", () => {
  it("counts outcomes, and leaves out runs without decision unless all count", () => {
    const runs = [...trials([3, yes], [1, no], [1, { action: "none", positive: null }]), ...failedRuns(2)]
    const stability = stabilityOf(runs)
    assert.strictEqual(stability.n, 5)
    assert.deepStrictEqual(stability.excluded.byReason, { failed: 2 })
    assert.deepStrictEqual(
      stability.outcomes.map(({ action, count, share }) => [action, count, share]),
      [
        [yes.action, 3, 0.6],
        [no.action, 1, 0.2],
        ["none", 1, 0.2]
      ]
    )
    assert.strictEqual(stability.agreement.rate, 0.6)
    const all = stabilityOf(runs, true)
    assert.deepStrictEqual([all.n, all.excluded.byReason, all.outcomes[1]?.action], [7, {}, "failed"])
  })
})

describe("the stability of groups", () => {
  const propertyOf = ({ models }: Trial) => models.join(", ")
  const day = Schema.Literals(["2026-07-06", "2026-07-07", "2026-07-08", ""])
  const runsOf = Schema.Array(Schema.Struct({ day, isYes: Schema.Boolean }))

  it.prop(
    "has each run in one group, the largest group first, or in the order of time",
    { pairs: runsOf, isTime: Schema.Boolean },
    ({ isTime, pairs }) => {
      const runs = pairs.map(({ day: model, isYes }) => trial({ outcome: isYes ? yes : no, models: [model] }))
      const groups = stabilityBy(runs, propertyOf, { countAll: false, isTime })
      const names = groups.map(({ property }) => property)
      assert.strictEqual(new Set(names).size, names.length)
      for (const { property, ...stability } of groups) {
        assert.deepStrictEqual(stability, stabilityOf(runs.filter((run) => propertyOf(run) === property)))
      }
      const sizes = groups.map(({ n }) => n)
      assert.strictEqual(
        sizes.reduce((sum, n) => sum + n, 0),
        runs.length
      )
      if (isTime) assert.deepStrictEqual(names, names.toSorted())
      else
        assert.deepStrictEqual(
          sizes,
          sizes.toSorted((left, right) => right - left)
        )
    }
  )
})

describe("the error of 2,000 simulated gates", () => {
  const GATES = 2_000
  const share = (of: (seed: number) => boolean) =>
    Array.from({ length: GATES }, (_, seed) => of(seed)).filter((found) => found).length / GATES

  const gate = (p: number, seed: number, plan: { readonly runs: number; readonly maxRuns: number }) => {
    const looks = looksOf(plan.runs, plan.maxRuns)
    const next = coin(p, seed)
    const runs: Array<Trial> = []
    for (const size of looks) {
      while (runs.length < size) runs.push(trial({ outcome: next() ? yes : no }))
      const verdict = verdictOf({ action: yes.action, agreement: 0.8 }, runs, plan)
      if (verdict !== "inconclusive") return verdict
    }
    return "inconclusive"
  }

  for (const plan of [
    { runs: 20, maxRuns: 20 },
    { runs: 20, maxRuns: 80 }
  ]) {
    for (const p of [0.5, 0.6, 0.7, 0.75, 0.79, 0.8, 0.85, 0.9, 1]) {
      it(`is under 5 % for a coin of ${p} and at most ${plan.maxRuns} runs`, () => {
        const wrong = p < 0.8 ? "pass" : "fail"
        assert.isBelow(
          share((seed) => gate(p, seed, plan) === wrong),
          0.05
        )
      })
    }
  }
})
