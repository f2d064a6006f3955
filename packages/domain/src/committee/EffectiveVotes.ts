import type { Interval } from "../statistics/Wilson.ts"
import { wilson } from "../statistics/Wilson.ts"
import type {
  EffectiveVotes,
  MissingRuns,
  PairErrors,
  ResampledFigure,
  SeatErrors,
  SeatPair
} from "./IndependenceTypes.ts"

/** Cases with a truth that a number needs. */
export const LEAST_CASES = 30
/** Errors of each seat that a number needs, and as many right votes. */
export const LEAST_ERRORS = 10
/** Errors of each seat, and right votes, below which the interval may be too narrow. */
export const FEW_ERRORS = 50

/** Kish's design effect: the votes of independent voters that `seats` correlated ones are worth, at most `seats`. */
export const effectiveOf = (seats: number, meanCorrelation: number): number =>
  meanCorrelation < 0 ? seats : seats / (1 + (seats - 1) * meanCorrelation)

/** The number of a committee, over the pairs that count. */
export const effectiveVotes = (
  seats: ReadonlyArray<SeatErrors>,
  pairs: ReadonlyArray<SeatPair>,
  counts: ReadonlyArray<boolean>,
  cases: number,
  means: Float64Array
): EffectiveVotes => {
  const missing = missingOf(seats, cases)
  if (missing !== undefined) return { kind: "unknown", reason: "too few runs", missing }
  const voters = seats.flatMap(({ leftOut, seat }) => (leftOut === undefined ? [seat] : []))
  const counted = pairs.flatMap(({ errors }, pair) =>
    counts[pair] === true && errors.phi !== undefined ? [{ errors, phi: errors.phi }] : []
  )
  if (voters.length < 2 || counted.length === 0) return { kind: "unknown", reason: "no correlation" }
  const mean = (figureOf: (pair: { readonly phi: ResampledFigure }) => number) =>
    counted.reduce((sum, pair) => sum + figureOf(pair) / counted.length, 0)
  const value = mean(({ phi }) => phi.value)
  const { high, low } = percentiles(means, value)
  // What resamples of a correlation without any exception cannot show.
  const slackLow = mean(({ phi }) => (isWhole(phi.value) && phi.value > 0 ? phi.value - phi.low : 0))
  const slackHigh = mean(({ phi }) => (isWhole(phi.value) && phi.value < 0 ? phi.high - phi.value : 0))
  const meanCorrelation = { value, low: Math.max(-1, low - slackLow), high: Math.min(1, high + slackHigh) }
  const n = voters.length
  return {
    kind: "known",
    seats: voters,
    meanCorrelation,
    value: effectiveOf(n, value),
    isOrMore: value < 0,
    interval: {
      low: effectiveOf(n, meanCorrelation.high),
      high: effectiveOf(n, meanCorrelation.low),
      isHighOrMore: meanCorrelation.low < 0
    },
    hasFewErrors: seats.some((one) => one.leftOut === undefined && rarer(one) < FEW_ERRORS),
    pairsLeftOut: (n * (n - 1)) / 2 - counted.length
  }
}

const rarer = ({ errors, runs }: SeatErrors): number => Math.min(errors, runs - errors)

/** Undefined where nothing is missing. A seat without a correlation needs nothing: it is left out. */
const missingOf = (seats: ReadonlyArray<SeatErrors>, cases: number): MissingRuns | undefined => {
  const more = (needed: number, have: number) => Math.max(0, needed - have)
  const short = seats.flatMap(({ cases, errors, leftOut, runs, seat }) => {
    const wanted = {
      seat,
      cases: more(LEAST_CASES, cases),
      errors: more(LEAST_ERRORS, errors),
      right: more(LEAST_ERRORS, runs - errors)
    }
    const isComplete = wanted.cases + wanted.errors + wanted.right === 0
    return leftOut !== undefined || isComplete ? [] : [wanted]
  })
  const all = more(LEAST_CASES, cases)
  return all === 0 && short.length === 0 ? undefined : { cases: all, seats: short }
}

const isWhole = (phi: number): boolean => Math.abs(phi) > 1 - 1e-12

/** A correlation with the interval of its resamples. */
export const phiFigure = (
  value: number,
  resampled: Float64Array,
  { both, leftOnly, sharedRuns }: Omit<PairErrors, "phi">,
  cases: number
): ResampledFigure => {
  if (!isWhole(value)) return { value, ...percentiles(resampled, value) }
  // Resamples of a pair without any exception have none either; the Wilson interval says how rare exceptions can be.
  const rare = wilson(0, cases).high
  const rate = (both + leftOnly) / sharedRuns
  const reach = rare / (2 * rate * (1 - rate))
  return value > 0 ? { value, low: Math.max(-1, 1 - reach), high: 1 } : { value, low: -1, high: Math.min(1, reach - 1) }
}

/** From 2.5 % to 97.5 % of the resamples that have a value, widened to the value itself. */
const percentiles = (resampled: Float64Array, value: number): Interval => {
  const sorted = resampled.toSorted()
  let size = sorted.length
  // A sort has NaN at the end.
  while (size > 0 && Number.isNaN(sorted[size - 1])) size -= 1
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * size - 1e-9) - 1)] ?? value
  return size === 0 ? { low: -1, high: 1 } : { low: Math.min(value, at(0.025)), high: Math.max(value, at(0.975)) }
}
