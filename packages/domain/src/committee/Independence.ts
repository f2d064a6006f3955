import {
  addPattern,
  type CasePatterns,
  caseShare,
  emptyCasePatterns,
  type PatternColumns,
  patternColumns
} from "../statistics/CasePatterns.ts"
import { kappaOf } from "../statistics/Kappa.ts"
import { shareDifference } from "../statistics/Newcombe.ts"
import { largestPhi } from "../statistics/Phi.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type CommitteeOutcome, type CommitteeRun, erred, type SeatVote } from "./CommitteeRun.ts"
import { effectiveVotes, LEAST_CASES, phiFigure } from "./EffectiveVotes.ts"
import type {
  Independence,
  PairAgreement,
  PairErrors,
  ResampleOptions,
  SeatErrors,
  SeatPair,
  TruthShare
} from "./IndependenceTypes.ts"
import { errorTable, type PairIndexes, pairsOf, phiAt, sumsAt, sumsByUnit } from "./PairSums.ts"
import { type Resamples, resampledInSlices } from "./Resamples.ts"

/** Seats of one committee that are compared with each other. */
export const MAX_COMMITTEE = 50
/** Runs that two seats share, from which on their correlation counts. */
export const LEAST_SHARED_RUNS = 20
export const RESAMPLES = 2_000
const SEED = 0x9e3779b9

/** The runs of one set of seats so far: counts of patterns of votes, by case. */
export interface Committee {
  readonly seats: ReadonlyArray<string>
  readonly patterns: CasePatterns
}

/** A committee of up to `MAX_COMMITTEE` seats without runs. */
export const emptyCommittee = (seats: ReadonlyArray<string>): Committee => ({ seats, patterns: emptyCasePatterns() })

const VOTES: Readonly<Record<SeatVote, string>> = { for: "f", against: "a", abstain: "s" }
const OUTCOMES: Readonly<Record<CommitteeOutcome, string>> = { positive: "p", negative: "n", none: "-" }
const voteBy: ReadonlyMap<string, SeatVote> = new Map([
  ["f", "for"],
  ["a", "against"],
  ["s", "abstain"]
])
const outcomeBy: ReadonlyMap<string, CommitteeOutcome> = new Map([
  ["p", "positive"],
  ["n", "negative"]
])

/** Adds a run, in place. */
export const addRun = ({ patterns, seats }: Committee, { caseId, isRight, outcome, votes }: CommitteeRun): void => {
  const ballots = seats.map((_, seat) => {
    const vote = votes[seat]
    return vote === undefined ? "-" : VOTES[vote]
  })
  const truth = isRight === undefined ? "-" : isRight ? "r" : "w"
  addPattern(patterns, caseId, `${ballots.join("")}${OUTCOMES[outcome]}${truth}`)
}

const voteIn = (pattern: string, seat: number): SeatVote | undefined => voteBy.get(pattern.charAt(seat))
const outcomeIn = (pattern: string): CommitteeOutcome => outcomeBy.get(pattern.charAt(pattern.length - 2)) ?? "none"
const truthIn = (pattern: string): boolean | undefined => {
  const truth = pattern.charAt(pattern.length - 1)
  return truth === "-" ? undefined : truth === "r"
}
const erredIn = (pattern: string, seat: number): boolean | undefined =>
  erred(voteIn(pattern, seat), { outcome: outcomeIn(pattern), isRight: truthIn(pattern) })

/** How independent the seats of a committee err, with what is missing for a number (docs/reference/committees.md). */
export const independence = (committee: Committee, options: ResampleOptions = {}): Independence =>
  runSliced(independenceInSlices(committee, options))

/** The same in slices. */
export function* independenceInSlices(
  { patterns, seats }: Committee,
  { resamples = RESAMPLES, seed = SEED }: ResampleOptions = {}
): Sliced<Independence> {
  const columns = patternColumns(patterns)
  yield
  const pairs = pairsOf(seats.length)
  const errors = errorTable(columns.patterns, seats.length, erredIn)
  yield
  const own: Array<SeatErrors> = []
  for (const [index, seat] of seats.entries()) {
    own.push(seatErrors(columns, seat, index))
    yield
  }
  const sums = yield* sumsByUnit(columns, errors, pairs, 1, () => 0)
  const enough = pairs.map((_, pair) => sumsAt(sums, pair).shared >= LEAST_SHARED_RUNS)
  const counted = withoutPairs(own, pairs, enough)
  const counts = pairs.map(
    ({ left, right }, pair) =>
      enough[pair] === true && counted[left]?.leftOut === undefined && counted[right]?.leftOut === undefined
  )
  const drawn = yield* resampledInSlices(columns, errors, pairs, counts, { resamples, seed })
  const byPattern = runsByPattern(columns)
  const { cases } = caseShare(columns, (pattern) => (truthIn(pattern) === undefined ? undefined : true))
  const listed = yield* listedPairs({ columns, byPattern, seats, pairs, sums, drawn, cases })
  const truth = truthShare(columns, byPattern)
  return {
    runs: truth.runs,
    cases: columns.caseIds.length,
    truth,
    seats: counted,
    pairs: listed,
    effectiveVotes: effectiveVotes(counted, listed, counts, cases, drawn.means)
  }
}

/** The pairs of a seat that is compared with the others, and is none of theirs: the last one. */
export function* pairsOfLast(
  columns: PatternColumns,
  seats: ReadonlyArray<string>,
  { resamples = RESAMPLES, seed = SEED }: ResampleOptions = {}
): Sliced<ReadonlyArray<SeatPair>> {
  const pairs = pairsOf(seats.length).filter(({ right }) => right === seats.length - 1)
  const errors = errorTable(columns.patterns, seats.length, erredIn)
  const sums = yield* sumsByUnit(columns, errors, pairs, 1, () => 0)
  const drawn = yield* resampledInSlices(columns, errors, pairs, [], { resamples, seed })
  const { cases } = caseShare(columns, (pattern) => (truthIn(pattern) === undefined ? undefined : true))
  return yield* listedPairs({ columns, byPattern: runsByPattern(columns), seats, pairs, sums, drawn, cases })
}

interface Compared {
  readonly columns: PatternColumns
  readonly byPattern: Float64Array
  readonly seats: ReadonlyArray<string>
  readonly pairs: ReadonlyArray<PairIndexes>
  readonly sums: Float64Array
  readonly drawn: Resamples
  /** Cases with a truth. */
  readonly cases: number
}

function* listedPairs({
  byPattern,
  cases,
  columns,
  drawn,
  pairs,
  seats,
  sums
}: Compared): Sliced<ReadonlyArray<SeatPair>> {
  const listed: Array<SeatPair> = []
  for (const [pair, { left, right }] of pairs.entries()) {
    listed.push({
      left: seats[left] ?? "",
      right: seats[right] ?? "",
      errors: pairErrors(sums, pair, cases, drawn),
      agreement: agreementOf(columns, byPattern, left, right)
    })
    yield
  }
  return listed
}

export const seatErrors = (columns: PatternColumns, seat: string, index: number): SeatErrors => {
  const { cases, count, high, low, n, rate } = caseShare(columns, (pattern) => {
    const error = erredIn(pattern, index)
    return error === undefined ? undefined : !error
  })
  if (n === 0) return { seat, runs: 0, cases: 0, errors: 0, leftOut: "no value" }
  const seen = { seat, runs: n, cases, errors: n - count, accuracy: { rate, low, high } }
  if (count === n) return { ...seen, leftOut: "always right" }
  return count === 0 ? { ...seen, leftOut: "always wrong" } : seen
}

/** The seats, with those named that share too few runs with each other seat that has a correlation. */
const withoutPairs = (
  seats: ReadonlyArray<SeatErrors>,
  pairs: ReadonlyArray<PairIndexes>,
  enough: ReadonlyArray<boolean>
): ReadonlyArray<SeatErrors> => {
  const hasPair = (seat: number) =>
    pairs.some(({ left, right }, pair) => {
      const other = left === seat ? right : right === seat ? left : undefined
      return other !== undefined && enough[pair] === true && seats[other]?.leftOut === undefined
    })
  return seats.map((one, seat) =>
    one.leftOut === undefined && one.cases >= LEAST_CASES && !hasPair(seat)
      ? { ...one, leftOut: "too few shared runs" }
      : one
  )
}

const pairErrors = (sums: Float64Array, pair: number, cases: number, drawn: Resamples): PairErrors => {
  const { both, left, right, shared } = sumsAt(sums, pair)
  const counts = {
    sharedRuns: shared,
    both,
    leftOnly: left - both,
    rightOnly: right - both,
    neither: shared - left - right + both,
    isTooFew: shared < LEAST_SHARED_RUNS
  }
  const [phi, most] = [phiAt(sums, pair), largestPhi(left / shared, right / shared)]
  const resampled = drawn.phis[pair]
  return phi === undefined || most === undefined || resampled === undefined
    ? counts
    : { ...counts, phi: phiFigure(phi, resampled, counts, Math.min(cases, shared)), largestPhi: most }
}

const agreementOf = (columns: PatternColumns, runs: Float64Array, left: number, right: number): PairAgreement => {
  const { count, high, low, n, rate } = caseShare(columns, (pattern) => {
    const [one, other] = [voteIn(pattern, left), voteIn(pattern, right)]
    return one === undefined || other === undefined ? undefined : one === other
  })
  if (n === 0) return { runs: 0, agreed: 0 }
  const votes = new Map<string, number>()
  for (const [index, pattern] of columns.patterns.entries()) {
    const key = pattern.charAt(left) + pattern.charAt(right)
    if (!key.includes("-")) votes.set(key, (votes.get(key) ?? 0) + (runs[index] ?? 0))
  }
  const { kappa } = kappaOf(Array.from(votes, ([key, count]) => ({ left: key.charAt(0), right: key.charAt(1), count })))
  return { runs: n, agreed: count, share: { rate, low, high }, ...(kappa !== undefined && { kappa: kappa.value }) }
}

const runsByPattern = ({ count, patternOf, patterns, rows }: PatternColumns): Float64Array => {
  const runs = new Float64Array(patterns.length)
  for (let row = 0; row < rows; row++) {
    const at = patternOf[row] ?? 0
    runs[at] = (runs[at] ?? 0) + (count[row] ?? 0)
  }
  return runs
}

const truthShare = (columns: PatternColumns, runs: Float64Array): TruthShare => {
  const outcomes = {
    withTruth: { positive: 0, negative: 0, none: 0 },
    withoutTruth: { positive: 0, negative: 0, none: 0 }
  }
  for (const [index, pattern] of columns.patterns.entries()) {
    const group = truthIn(pattern) === undefined ? outcomes.withoutTruth : outcomes.withTruth
    group[outcomeIn(pattern)] += runs[index] ?? 0
  }
  const { count, high, low, n, rate } = caseShare(columns, (pattern) => truthIn(pattern) !== undefined)
  const positiveOf = (hasTruth: boolean) =>
    caseShare(columns, (pattern) => {
      const outcome = outcomeIn(pattern)
      return (truthIn(pattern) !== undefined) !== hasTruth || outcome === "none" ? undefined : outcome === "positive"
    })
  const [judged, others] = [positiveOf(true), positiveOf(false)]
  return {
    runs: n,
    withTruth: count,
    ...(n > 0 && { share: { rate, low, high } }),
    outcomes,
    ...(judged.n > 0 && others.n > 0 && { positiveDifference: shareDifference(judged, others) })
  }
}
