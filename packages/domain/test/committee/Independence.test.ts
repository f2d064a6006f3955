import { assert, describe, it } from "@effect/vitest"
import {
  addRun,
  type Committee,
  type CommitteeRun,
  effectiveOf,
  emptyCommittee,
  erred,
  type Independence,
  independence,
  largestPhi,
  type SeatVote
} from "@runplane/domain"
import { uniform } from "../support/SyntheticCommittees.ts"

const letters: Readonly<Record<string, SeatVote>> = { f: "for", a: "against", s: "abstain" }

/** Runs of the same votes, each of its own case: `3x ffa +` are three right decisions with two votes for them. */
const runsOf = (...texts: ReadonlyArray<string>): ReadonlyArray<CommitteeRun> =>
  texts.flatMap((text) => {
    const [times = "", votes = "", truth = ""] = text.split(" ")
    return Array.from({ length: Number.parseInt(times, 10) }, (_, run) => ({
      caseId: `${text} ${run}`,
      votes: Array.from(votes, (letter) => letters[letter]),
      outcome: "positive" as const,
      ...(truth !== "" && { isRight: truth === "+" })
    }))
  })

const given = (runs: ReadonlyArray<CommitteeRun>): Committee => {
  const names = ["ada", "bo", "cy", "di", "eve"]
  const committee = emptyCommittee(names.slice(0, runs[0]?.votes.length ?? 0))
  for (const run of runs) addRun(committee, run)
  return committee
}

const figuresOf = (...texts: ReadonlyArray<string>): Independence => independence(given(runsOf(...texts)))

const numberOf = ({ effectiveVotes }: Independence) => {
  if (effectiveVotes.kind === "unknown") throw new Error(`no number: ${JSON.stringify(effectiveVotes)}`)
  return effectiveVotes
}

const pairOf = ({ pairs }: Independence, left: string, right: string) => {
  const pair = pairs.find((one) => one.left === left && one.right === right)
  if (pair === undefined) throw new Error(`no pair ${left} ${right}`)
  return pair
}

describe("effective votes", () => {
  it("are the published ones of six and nine judges", () => {
    assert.strictEqual(effectiveOf(6, 0.43).toFixed(2), "1.90")
    assert.strictEqual(effectiveOf(9, 0.43).toFixed(2), "2.03")
    assert.strictEqual(effectiveOf(5, 0), 5)
    assert.strictEqual(effectiveOf(5, 1), 1)
  })

  it("follow from the table of two seats by hand", () => {
    // 20 of 100 err each, 10 together: (0.1 - 0.04) / 0.16.
    const found = figuresOf("70x ff +", "10x fa +", "10x af +", "10x aa +")
    const { isOrMore, meanCorrelation, seats, value } = numberOf(found)
    assert.approximately(meanCorrelation.value, 0.375, 1e-12)
    assert.approximately(value, 2 / 1.375, 1e-12)
    assert.isFalse(isOrMore)
    assert.deepStrictEqual(seats, ["ada", "bo"])
  })

  it("of a negative mean correlation are n or more, and the correlation stays as it is", () => {
    const found = numberOf(figuresOf("60x ff +", "20x fa +", "20x af +"))
    assert.approximately(found.meanCorrelation.value, (0 - 0.04) / 0.16, 1e-12)
    assert.isTrue(found.isOrMore)
    assert.strictEqual(found.value, 2)
    assert.isTrue(found.interval.isHighOrMore)
    assert.strictEqual(found.interval.high, 2)
  })

  it("leave out seats that are always right or wrong, without a value, and with too few shared runs", () => {
    const found = figuresOf("40x faff- +", "20x fafa- +", "20x faaf- +", "20x faaa- +")
    assert.deepStrictEqual(
      found.seats.map(({ leftOut, seat }) => [seat, leftOut]),
      [
        ["ada", "always right"],
        ["bo", "always wrong"],
        ["cy", undefined],
        ["di", undefined],
        ["eve", "no value"]
      ]
    )
    assert.deepStrictEqual(numberOf(found).seats, ["cy", "di"])
    assert.isUndefined(pairOf(found, "ada", "cy").errors.phi)
    assert.strictEqual(pairOf(found, "cy", "eve").errors.sharedRuns, 0)
    const apart = figuresOf("30x ff- +", "10x fa- +", "10x af- +", "10x aa- +", "30x --f +", "15x --a +", "10x ffa +")
    assert.strictEqual(apart.seats[2]?.leftOut, "too few shared runs")
    assert.deepInclude(pairOf(apart, "ada", "cy").errors, { sharedRuns: 10, isTooFew: true })
    assert.deepStrictEqual(numberOf(apart).seats, ["ada", "bo"])
    assert.strictEqual(numberOf(apart).pairsLeftOut, 0)
  })

  it("leave the correlation undefined where at most one seat errs", () => {
    const { effectiveVotes } = figuresOf("60x ff +", "20x fa +")
    assert.deepStrictEqual(effectiveVotes, { kind: "unknown", reason: "no correlation" })
  })

  it("need 30 cases, 10 errors and 10 right votes of each seat, and say what is missing", () => {
    const missing = (...texts: ReadonlyArray<string>) => {
      const { effectiveVotes } = figuresOf(...texts)
      return effectiveVotes.kind === "unknown" && effectiveVotes.reason === "too few runs"
        ? effectiveVotes.missing
        : undefined
    }
    assert.deepStrictEqual(missing("12x aa +", "12x ff +"), {
      cases: 6,
      seats: [
        { seat: "ada", cases: 6, errors: 0, right: 0 },
        { seat: "bo", cases: 6, errors: 0, right: 0 }
      ]
    })
    assert.deepStrictEqual(missing("9x fa +", "11x af +", "20x ff +"), {
      cases: 0,
      seats: [{ seat: "bo", cases: 0, errors: 1, right: 0 }]
    })
    assert.deepStrictEqual(missing("9x ff +", "31x aa +"), {
      cases: 0,
      seats: [
        { seat: "ada", cases: 0, errors: 0, right: 1 },
        { seat: "bo", cases: 0, errors: 0, right: 1 }
      ]
    })
    assert.isUndefined(missing("10x ff +", "20x aa +"))
  })

  it("count repeats of a case once: 300 runs of 10 cases are too few", () => {
    const runs = runsOf("200x ff +", "60x fa +", "40x aa +").map((run, at) => ({ ...run, caseId: `case-${at % 10}` }))
    const { effectiveVotes } = independence(given(runs))
    assert.deepInclude(effectiveVotes, { kind: "unknown", reason: "too few runs" })
  })

  it("have a wider interval where the runs are repeats of fewer cases", () => {
    const next = uniform(7)
    const runs = Array.from({ length: 400 }, (_, run): CommitteeRun => {
      // The case decides, and each repeat says the same.
      const difficulty = uniform(1_000 + Math.floor(run / 8))
      return {
        caseId: `case-${Math.floor(run / 8)}`,
        votes: [difficulty() < 0.4 ? "against" : "for", difficulty() < 0.4 ? "against" : "for"],
        outcome: "positive",
        isRight: next() < 2
      }
    })
    const alone = runs.map((run, at) => ({ ...run, caseId: `case-${at}` }))
    const width = ({ meanCorrelation: { high, low } }: ReturnType<typeof numberOf>) => high - low
    const [byCase, byRun] = [runs, alone].map((some) => numberOf(independence(given(some))))
    if (byCase === undefined || byRun === undefined) return assert.fail("two numbers")
    assert.approximately(byCase.value, byRun.value, 1e-12)
    assert.isAbove(width(byCase), 2 * width(byRun))
  })

  it("are the same in any order of the runs, and other ones with another seed", () => {
    const runs = runsOf("60x fff +", "20x faa +", "20x afa -", "15x aaf +", "12x aaa -")
    const forwards = independence(given(runs))
    assert.deepStrictEqual(independence(given(runs.toReversed())), forwards)
    const other = numberOf(independence(given(runs), { seed: 5 }))
    assert.notStrictEqual(other.meanCorrelation.low, numberOf(forwards).meanCorrelation.low)
    assert.strictEqual(other.value, numberOf(forwards).value)
  })

  it("say that a seat has few errors below 50 of them", () => {
    assert.isTrue(numberOf(figuresOf("100x ff +", "49x aa +", "60x fa +")).hasFewErrors)
    assert.isFalse(numberOf(figuresOf("100x ff +", "50x aa +", "60x fa +")).hasFewErrors)
  })

  it("of two seats that always err together are one, with an interval that admits exceptions", () => {
    const found = figuresOf("80x ff +", "20x aa +")
    const { interval, meanCorrelation, value } = numberOf(found)
    assert.strictEqual(value, 1)
    assert.strictEqual(meanCorrelation.high, 1)
    // Of 100 runs at most 3.7 % differ (Wilson); half of that is missing from the 20 % of common errors.
    assert.approximately(meanCorrelation.low, 1 - 0.03699 / (2 * 0.2 * 0.8), 1e-3)
    assert.isAbove(interval.high, 1.05)
    const opposite = numberOf(figuresOf("50x fa +", "50x af +"))
    assert.strictEqual(opposite.meanCorrelation.value, -1)
    assert.isAbove(opposite.meanCorrelation.high, -1)
    assert.isTrue(opposite.isOrMore)
  })
})

describe("the errors of seats", () => {
  it("are votes for wrong and against right decisions; an abstention is none", () => {
    const truth = { outcome: "positive", isRight: true } as const
    assert.isFalse(erred("for", truth))
    assert.isTrue(erred("against", truth))
    assert.isTrue(erred("for", { ...truth, isRight: false }))
    assert.isTrue(erred("for", { outcome: "negative", isRight: true }))
    assert.isFalse(erred("for", { outcome: "negative", isRight: false }))
    for (const vote of ["abstain", undefined] as const) assert.isUndefined(erred(vote, truth))
    assert.isUndefined(erred("for", { outcome: "positive" }))
    assert.isUndefined(erred("for", { outcome: "none", isRight: true }))
  })

  it("give a largest correlation of 0.25 for accuracies of 0.55 and 0.95", () => {
    assert.strictEqual((largestPhi(0.45, 0.05) ?? 0).toFixed(2), "0.25")
    assert.isUndefined(largestPhi(0, 0.5))
    assert.isUndefined(largestPhi(0.5, 1))
  })
})

describe("without truth", () => {
  it("the figure is unknown, and only the agreement of each pair is stated", () => {
    const found = figuresOf("60x ff", "20x fa", "10x af", "10x aa")
    assert.deepStrictEqual(found.effectiveVotes, {
      kind: "unknown",
      reason: "too few runs",
      missing: { cases: 30, seats: [] }
    })
    const { agreement, errors } = pairOf(found, "ada", "bo")
    assert.deepInclude(agreement, { runs: 100, agreed: 70 })
    assert.approximately(agreement.share?.rate ?? Number.NaN, 0.7, 1e-12)
    // By chance 0.8 * 0.7 + 0.2 * 0.3.
    assert.approximately(agreement.kappa ?? Number.NaN, (0.7 - 0.62) / 0.38, 1e-12)
    assert.deepStrictEqual(errors, { sharedRuns: 0, both: 0, leftOnly: 0, rightOnly: 0, neither: 0, isTooFew: true })
    assert.deepInclude(found.truth, { runs: 100, withTruth: 0 })
  })

  // Sensitivity 0.98. Bad proposals are found by few or by none, so all seats err on the same ones.
  for (const [specificity, most] of [
    [0.2, 1.45],
    [0.02, 1.12]
  ] as const) {
    it(`seats that approve almost everything have no number, and at most ${most} with truth (${specificity})`, () => {
      const next = uniform(98)
      const runs = Array.from({ length: 4_000 }, (_, run): CommitteeRun => {
        const isGood = next() < 0.8
        const approval = isGood ? 0.98 : 1 - specificity
        const votes = Array.from({ length: 5 }, (): SeatVote => (next() < approval ? "for" : "against"))
        return { caseId: `case-${run}`, votes, outcome: "positive", isRight: isGood }
      })
      const blind = independence(given(runs.map(({ isRight: _, ...run }) => run)))
      assert.strictEqual(blind.effectiveVotes.kind, "unknown")
      assert.isTrue(blind.pairs.every(({ errors }) => errors.phi === undefined && errors.largestPhi === undefined))
      assert.isTrue(blind.seats.every(({ accuracy, errors }) => accuracy === undefined && errors === 0))
      assert.isBelow(numberOf(independence(given(runs))).value, most)
    })
  }
})

describe("the truth", () => {
  it("is known of a share of the runs, whose outcomes may differ from those of the others", () => {
    const positive = runsOf("60x ff +", "20x fa")
    const negative = runsOf("20x af +", "40x aa").map((run) => ({ ...run, outcome: "negative" as const }))
    const none = runsOf("10x ff").map((run) => ({ ...run, caseId: `none ${run.caseId}`, outcome: "none" as const }))
    const { truth } = independence(given([...positive, ...negative, ...none]))
    assert.deepInclude(truth, {
      runs: 150,
      withTruth: 80,
      outcomes: {
        withTruth: { positive: 60, negative: 20, none: 0 },
        withoutTruth: { positive: 20, negative: 40, none: 10 }
      }
    })
    const { high = 0, low = 0, value = 0 } = truth.positiveDifference ?? {}
    assert.approximately(value, 0.75 - 1 / 3, 1e-12)
    assert.isTrue(low > 0 && low < value && value < high)
  })

  it("of no run at all leaves all figures out", () => {
    const empty = independence(emptyCommittee(["ada", "bo"]))
    assert.deepInclude(empty, { runs: 0, cases: 0 })
    assert.isUndefined(empty.truth.share)
    assert.isUndefined(empty.truth.positiveDifference)
    assert.deepStrictEqual(empty.seats[0], { seat: "ada", runs: 0, cases: 0, errors: 0, leftOut: "no value" })
    assert.deepStrictEqual(empty.pairs[0]?.agreement, { runs: 0, agreed: 0 })
  })
})
