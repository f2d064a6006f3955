import { assert, describe, it } from "@effect/vitest"
import {
  canDecideByVotes,
  closestSeat,
  costPerRight,
  firstKind,
  leastNeeded,
  leftOutText,
  matrixOf,
  pairedText,
  truthTexts,
  withoutText
} from "../../../src/view/committee/Committee.ts"
import { independences, worths } from "./CommitteeAnswers.ts"

const [found] = independences.data
const [worth] = worths.data
if (found === undefined || worth === undefined) throw new Error("the answers have no committee")
const seats = found.seats.map(({ seat }) => seat)
const [first] = found.pairs
if (first === undefined) throw new Error("the answer has no pair")

// docs/reference/committees.md
describe("the matrix of a committee", () => {
  it("has a cell for each two seats, the same on both sides of the diagonal", () => {
    const cells = matrixOf(seats, found.pairs, "errors")
    assert.deepStrictEqual(
      cells.map((row) => row.map((cell) => cell?.text)),
      [
        [undefined, "0.82", "0.21"],
        ["0.82", undefined, "-0.04"],
        ["0.21", "-0.04", undefined]
      ]
    )
    assert.deepInclude(cells[1]?.[2], { isBelow: true, strength: 0.04 })
    assert.include(cells[0]?.[1]?.says, "0.82 (0.72 to 0.92), at most 0.93")
  })

  it("shows agreement as agreement, and never as a correlation of errors", () => {
    assert.deepInclude(matrixOf(seats, found.pairs, "agreement")[0]?.[1], { text: "88 %" })
  })

  it("has no figure without shared runs, with too few, and for a seat that never errs", () => {
    const { phi: _, ...without } = first.errors
    const cellOf = (errors: typeof first.errors) =>
      matrixOf([first.left, first.right], [{ ...first, errors }], "errors")[0]?.[1]
    assert.deepInclude(cellOf({ ...without, sharedRuns: 0 }), { text: "–", strength: undefined })
    assert.include(cellOf({ ...without, sharedRuns: 0 })?.says, "no run with a truth")
    assert.include(cellOf({ ...without, sharedRuns: 40 })?.says, "never or always errs in 40 shared runs")
    assert.include(cellOf({ ...first.errors, sharedRuns: 7, isTooFew: true })?.says, "too few shared runs, 7")
  })

  it("begins with agreement while no pair has a correlation", () => {
    assert.strictEqual(firstKind(found), "errors")
    const { phi: _, ...errors } = first.errors
    assert.strictEqual(firstKind({ pairs: [{ ...first, errors }] }), "agreement")
    assert.strictEqual(firstKind({ pairs: [] }), "agreement")
  })
})

describe("what a committee would be without a seat", () => {
  it("names the most expensive of the seats that change least, with the bound", () => {
    assert.strictEqual(
      withoutText(worth),
      "Without impact-analyst 40 % cheaper, and no outcome changes in 320 runs: at most 1 % of all at 95 %."
    )
  })

  it("counts decisions that would be refused, and calls a guessed cost a guess", () => {
    const [one] = worth.seats
    assert.isDefined(one)
    if (one === undefined) return
    const text = (change: Partial<typeof one>, costUsd = 3.2) =>
      withoutText({ ...worth, costUsd, seats: [{ ...one, ...change }] })
    assert.strictEqual(text({}), "Without risk-analyst 40 % cheaper, and 31 of 320 decisions would be refused.")
    assert.include(
      text({ changed: { count: 0, n: 3, rate: 0, low: 0, high: 0.6 } }),
      "in 3 runs. Too few runs to rely on."
    )
    assert.include(text({ guessedCostUsd: 0.1 }), "about 40 % cheaper")
    assert.include(text({ costUsd: 0 }), "no cheaper")
    assert.include(text({ costUsd: 0 }, 0), "with no known cost")
  })

  it("is unknown when no run can be counted again", () => {
    const none = worth.seats.map((seat) => ({ ...seat, changed: { count: 0, n: 0, rate: 0, low: 0, high: 1 } }))
    assert.isUndefined(leastNeeded(none))
    assert.isUndefined(withoutText({ ...worth, seats: none }))
  })
})

describe("the truth of a committee", () => {
  it("warns when runs with a mark are not like the others", () => {
    const { bias, share } = truthTexts(found)
    assert.strictEqual(share, '300 of 320 runs have a mark "correct".')
    assert.include(bias, "they decide yes more often, by 27 points")
  })

  it("says nothing of a difference whose interval has 0, or that was not measured", () => {
    const { positiveDifference: _, ...truth } = found.truth
    assert.isUndefined(truthTexts({ truth }).bias)
    const unsure = { ...truth, positiveDifference: { value: 0.2, low: -0.1, high: 0.5 } }
    assert.isUndefined(truthTexts({ truth: unsure }).bias)
    assert.strictEqual(
      truthTexts({ truth: { ...truth, runs: 1, withTruth: 1 } }).share,
      '1 of 1 run has a mark "correct".'
    )
  })
})

describe("the words of a seat", () => {
  it("say why it has no correlation, and that no right decision needed it", () => {
    assert.strictEqual(leftOutText("no value"), "no vote in a run with a truth")
    assert.strictEqual(leftOutText("always right"), "always right")
    assert.isUndefined(leftOutText(undefined))
    const [one] = worth.seats
    if (one === undefined) throw new Error("no seat")
    assert.strictEqual(costPerRight(one), "none needed it")
    assert.strictEqual(costPerRight({ ...one, costPerRightUsd: 0.5 }), "$0.50")
  })
})

describe("a shadow of a committee", () => {
  it("names the seat that it errs with most, of those that share enough runs", () => {
    const [shadow] = found.shadows
    assert.deepInclude(closestSeat(shadow?.pairs ?? []), { seat: "impact-analyst", text: "0.64" })
    const few = (shadow?.pairs ?? []).map((pair) => ({ ...pair, errors: { ...pair.errors, isTooFew: true } }))
    assert.isUndefined(closestSeat(few))
  })

  it("is compared with its participant in words", () => {
    const paired = { runs: 58, isTooFew: false }
    assert.strictEqual(pairedText({ ...paired, p: 0.039 }), "p = 0.039")
    assert.strictEqual(pairedText({ ...paired, p: 0.0004 }), "p < 0.001")
    assert.strictEqual(pairedText({ ...paired, p: 0.5 }), "p = 0.500, may be chance")
    assert.strictEqual(pairedText({ ...paired, p: 0.04, isTooFew: true }), "too few cases")
    assert.strictEqual(pairedText({ runs: 0, p: 1, isTooFew: true }), "no truth")
  })
})

describe("a policy of a search", () => {
  it("is for a mode with votes", () => {
    assert.isTrue(["*", "macp.mode.decision.v1", "macp.mode.quorum.v1"].every(canDecideByVotes))
    assert.isFalse(canDecideByVotes("macp.mode.task.v1"))
  })
})
