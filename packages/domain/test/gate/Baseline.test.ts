import { assert, describe, it } from "@effect/vitest"
import {
  baselineFault,
  baselineOf,
  type CaseBaseline,
  type Course,
  compareAll,
  courseOf,
  type Expectations,
  flipsOf,
  isOtherScenario,
  type Plan,
  referenceOf,
  type Trial,
  unseenDrop
} from "@runplane/domain"
import { coin, trial } from "../support/trials.ts"

const yes = { action: "decision.selected", positive: true }
const no = { action: "decision.rejected", positive: false }
const ONE_LOOK: Plan = { runs: 20, maxRuns: 20 }
const trials = (...groups: ReadonlyArray<readonly [count: number, outcome: Trial["outcome"]]>) =>
  groups.flatMap(([count, outcome]) => Array.from({ length: count }, () => trial({ outcome })))
const failedRuns = (count: number) =>
  Array.from({ length: count }, () => trial({ outcome: { action: "failed", positive: null }, excluded: "failed" }))

const versions = { scenarioRef: "p/s@1.0.0", policyVersions: ["1.0.0"], promptHashes: ["aaaaaaaa11111111"] }

describe("the comparison with a baseline", () => {
  const flip = (key: string) => ({ key, count: 2, text: `cause ${key}`, exampleLeft: "l", exampleRight: "r" })
  const result = (expect: Expectations, runs: ReadonlyArray<Trial>, ...keys: ReadonlyArray<string>) => ({
    expect,
    trials: runs,
    flips: keys.map(flip),
    versions
  })
  const before = baselineOf(result({}, trials([19, yes], [1, no]), "a"))
  const compare = (now: ReturnType<typeof result>) => compareAll([{ now, before }], ONE_LOOK)[0]

  it("fails for a drop that is significant and large", () => {
    const verdicts = (runs: ReadonlyArray<Trial>, expect: Expectations = {}) =>
      compare(result(expect, runs))?.checks.map(({ verdict }) => verdict)
    assert.deepStrictEqual(verdicts(trials([10, yes], [10, no])), ["fail"])
    assert.deepStrictEqual(verdicts(trials([18, yes], [2, no])), ["pass"])
    assert.deepStrictEqual(verdicts(trials([10, yes], [10, no]), { minDrop: 0.5 }), ["pass"])
    assert.deepStrictEqual(verdicts(failedRuns(20)), ["inconclusive"])
  })

  it("is inconclusive when nothing is compared, or when a large drop may be chance", () => {
    const checkOf = (now: ReadonlyArray<Trial>, of = before) =>
      compareAll([{ now: result({}, now), before: of }], ONE_LOOK)[0]?.checks[0]
    assert.strictEqual(checkOf(failedRuns(20))?.message, "no run counts, so nothing is compared")
    const empty = baselineOf(result({}, failedRuns(20)))
    assert.deepStrictEqual(checkOf(trials([20, yes]), empty), {
      name: "baseline",
      verdict: "inconclusive",
      message: "the baseline has no runs, so nothing is compared"
    })
    assert.strictEqual(checkOf(trials([16, yes], [4, no]))?.verdict, "inconclusive")
    const unchanged = checkOf(trials([19, yes], [1, no]))
    assert.strictEqual(unchanged?.verdict, "pass")
    assert.match(unchanged?.message ?? "", /; a drop of up to 0\.\d\d could not have been seen$/)
  })

  it("adjusts for the number of cases", () => {
    // One case alone has p = 0.045.
    const drop = result({}, trials([14, yes], [6, no]))
    assert.strictEqual(compareAll([{ now: drop, before }], ONE_LOOK)[0]?.checks[0]?.verdict, "fail")
    const same = result({}, trials([19, yes], [1, no]))
    const both = compareAll(
      [
        { now: drop, before },
        { now: same, before }
      ],
      ONE_LOOK
    )
    assert.strictEqual(both[0]?.checks[0]?.verdict, "inconclusive")
  })

  it("reports new outcomes and causes as warnings, or as failures", () => {
    const other = { action: "decision.other", positive: null }
    const now = trials([19, yes], [1, other])
    assert.deepStrictEqual(compare(result({}, now, "a", "b"))?.warnings, [
      "new outcome decision.other (1)",
      "new cause of a flip: cause b (2)"
    ])
    const strict = compare(result({ noNewFlips: true }, now, "a", "b"))
    assert.deepStrictEqual(
      [strict?.warnings, strict?.checks.map(({ name, verdict }) => `${name} ${verdict}`)],
      [[], ["baseline pass", "noNewFlips fail"]]
    )
    assert.deepStrictEqual(compareAll([{ now: result({}, now), before: null }], ONE_LOOK)[0]?.warnings, [
      "the baseline does not have this case"
    ])
  })

  it("warns of a percentile that rose", () => {
    const slower = trials([20, yes]).map((run) => ({ ...run, durationMs: 5_000 }))
    assert.match(compare(result({}, slower))?.warnings.join() ?? "", /^the 95th percentile of the duration rose by/)
  })

  it("names what changed before a run decided", () => {
    const now = {
      ...result({}, trials([20, yes])),
      versions: { scenarioRef: "p/s@1.1.0", policyVersions: ["1.1.0"], promptHashes: ["bbbbbbbb22222222"] }
    }
    assert.deepStrictEqual(compare(now)?.changes, [
      "scenario p/s@1.0.0 -> p/s@1.1.0",
      "prompt aaaaaaaa -> bbbbbbbb",
      "policy 1.0.0 -> 1.1.0"
    ])
    assert.deepStrictEqual(compare(result({}, trials([20, yes])))?.changes, [])
    const unknown = { ...versions, policyVersions: [], promptHashes: [] }
    assert.deepStrictEqual(compare({ ...result({}, trials([20, yes])), versions: unknown })?.changes, [])
  })

  it("treats another version of a scenario as the same scenario", () => {
    assert.isFalse(isOtherScenario("p/s@2.0.0", before))
    assert.isTrue(isOtherScenario("p/t@1.0.0", before))
  })
})

describe("the figures of a baseline", () => {
  const good = baselineOf({ expect: {}, trials: trials([19, yes], [1, no]), flips: [], versions })
  const faultOf = (members: Partial<CaseBaseline>) =>
    baselineFault({ format: "runplane-gate-baseline-1", recordedAt: "", cases: { a: { ...good, ...members } } })

  it("fit each other when they were recorded", () => assert.isUndefined(faultOf({})))

  it.each<Partial<CaseBaseline>>([
    { n: 21 },
    { outcomes: [] },
    {
      outcomes: [
        { ...yes, count: 21 },
        { ...no, count: -1 }
      ]
    },
    { costUsd: [] },
    { durationMs: Array.from({ length: 21 }, () => 1) }
  ])("are refused when they do not: %j", (members) => {
    assert.match(faultOf(members) ?? "", /^the counts of the case a do not add up: /)
  })
})

describe("the cause of another outcome", () => {
  /** A run of one vote. */
  const course = (runId: string, vote: string): Course => ({
    runId,
    outline: {
      steps: [
        {
          seq: 1,
          index: 1,
          participantId: "bea",
          type: "Vote",
          key: "bea vote",
          text: () => "",
          said: { vote },
          free: {}
        }
      ],
      outcome: "positive",
      lastIndex: 1,
      spendings: []
    }
  })
  const many = (count: number, vote: string) => Array.from({ length: count }, (_, at) => course(`${vote}${at}`, vote))
  const textsOf = (reference: ReadonlyArray<Course>, others: ReadonlyArray<Course>, recorded?: Course) =>
    flipsOf(reference, others, recorded).map(({ count, text }) => `${count} ${text}`)

  it("is what the runs without the expected outcome did, also when they are half or more", () => {
    const half = trials([10, yes], [10, no])
    const isRight = referenceOf({ action: yes.action }, half, null)
    assert.deepStrictEqual([isRight(yes), isRight(no)], [true, false])
    assert.deepStrictEqual(textsOf(many(8, "APPROVE"), many(12, "REJECT")), ["12 bea voted REJECT"])
  })

  it("is what differs from the outcome of the baseline when a case states none", () => {
    const before = baselineOf({ expect: {}, trials: trials([19, yes], [1, no]), flips: [], versions })
    const isRight = referenceOf({}, trials([2, yes], [18, no]), before)
    assert.deepStrictEqual([isRight(yes), isRight(no)], [true, false])
    const alone = referenceOf({}, trials([2, yes], [18, no]), null)
    assert.deepStrictEqual([alone(yes), alone(no)], [false, true])
  })

  it("is found against the typical run of the baseline when all runs have flipped", () => {
    const recorded = { expect: {}, trials: trials([20, yes]), flips: [], versions }
    const { typical } = baselineOf(recorded, many(20, "APPROVE"))
    assert.isDefined(typical)
    assert.deepStrictEqual(textsOf([], many(20, "REJECT"), typical && courseOf(typical)), ["20 bea voted REJECT"])
    assert.deepStrictEqual(textsOf([], many(20, "REJECT")), [])
  })

  it("keeps no typical run of more than 256 KiB", () => {
    const large = course("large", "x".repeat(300_000))
    assert.isUndefined(baselineOf({ expect: {}, trials: [], flips: [], versions }, [large]).typical)
  })
})

describe("the drop that a comparison could not have seen", () => {
  const test = { significance: 0.05, minDrop: 0.1 }

  // Computed with exact integers, by a program of its own.
  it.each([
    [18, 20, 20, 0.3693],
    [18, 20, 80, 0.2514],
    [72, 80, 80, 0.1472],
    [20, 20, 20, 0.3133]
  ])("of %i of %i runs before and %i after is %f", (count, n, after, expected) => {
    assert.closeTo(unseenDrop({ count, n }, after, test), expected, 0.0002)
  })

  it("is the whole rate when no number of successes is a drop", () => {
    assert.strictEqual(unseenDrop({ count: 1, n: 1 }, 1, test), 1)
    assert.strictEqual(unseenDrop({ count: 0, n: 0 }, 20, test), 0)
  })

  it("shrinks with the number of runs", () => {
    const drops = [20, 40, 80, 160].map((n) => unseenDrop({ count: (9 * n) / 10, n }, n, test))
    assert.deepStrictEqual(
      drops,
      drops.toSorted((left, right) => right - left)
    )
  })
})

describe("the error of 2,000 simulated comparisons", () => {
  const GATES = 2_000
  const share = (of: (seed: number) => boolean) =>
    Array.from({ length: GATES }, (_, seed) => of(seed)).filter((found) => found).length / GATES

  for (const p of [0.5, 0.8, 0.9, 1]) {
    it(`is under 5 % against a baseline of the same coin of ${p}, over five cases`, () => {
      const wrong = share((seed) => {
        const cases = Array.from({ length: 5 }, (_, nth) => {
          const next = coin(p, seed * 5 + nth)
          const runs = () => Array.from({ length: 20 }, () => trial({ outcome: next() ? yes : no }))
          const expect = { action: yes.action }
          const before = baselineOf({ expect, trials: runs(), flips: [], versions })
          return { now: { expect, trials: runs(), flips: [], versions }, before }
        })
        return compareAll(cases, ONE_LOOK).some(({ checks }) => checks.some(({ verdict }) => verdict === "fail"))
      })
      assert.isBelow(wrong, 0.05)
    })
  }
})
