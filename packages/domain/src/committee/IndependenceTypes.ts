import type { Interval, ShareInterval } from "../statistics/Wilson.ts"
import type { CommitteeOutcome } from "./CommitteeRun.ts"

/** Why a seat is not one of the seats of the figure. */
export type LeftOut = "no value" | "always right" | "always wrong" | "too few shared runs"

/** The errors of one seat over the runs with a truth in which it voted for or against. */
export interface SeatErrors {
  readonly seat: string
  readonly runs: number
  /** Different cases of these runs. */
  readonly cases: number
  readonly errors: number
  /** Share of right votes with its interval of 95 %; absent without runs. */
  readonly accuracy?: ShareInterval
  /** Absent for a seat that counts. */
  readonly leftOut?: LeftOut
}

/** A figure of all runs with the interval of 95 % of its resamples. */
export interface ResampledFigure extends Interval {
  readonly value: number
}

/** How the errors of two seats go together, over the runs in which both have a value. */
export interface PairErrors {
  readonly sharedRuns: number
  readonly both: number
  readonly leftOnly: number
  readonly rightOnly: number
  readonly neither: number
  /** Absent where a seat of the pair never or always errs in these runs, so that no correlation is defined. */
  readonly phi?: ResampledFigure
  /** The largest correlation that these two accuracies allow; absent with `phi`. */
  readonly largestPhi?: number
  /** Fewer than `LEAST_SHARED_RUNS` shared runs: the pair does not count for the committee. */
  readonly isTooFew: boolean
}

/** How often two seats cast the same vote: for, against or an abstention. It needs no truth and bounds nothing. */
export interface PairAgreement {
  readonly runs: number
  readonly agreed: number
  /** Absent without runs. */
  readonly share?: ShareInterval
  /** Cohen's kappa; absent without runs, and where both always cast one and the same vote. */
  readonly kappa?: number
}

export interface SeatPair {
  readonly left: string
  readonly right: string
  readonly errors: PairErrors
  readonly agreement: PairAgreement
}

/** What is missing before the committee has a number. */
export interface MissingRuns {
  /** Runs of further cases with a truth. */
  readonly cases: number
  /** Seats with too few runs, errors or right votes, and how many more of them are needed. */
  readonly seats: ReadonlyArray<{
    readonly seat: string
    readonly cases: number
    readonly errors: number
    readonly right: number
  }>
}

/** The number of independent voters by Kish's design effect, or why it is unknown. */
export type EffectiveVotes =
  | {
      readonly kind: "known"
      /** The seats that count: those with a correlation. */
      readonly seats: ReadonlyArray<string>
      readonly meanCorrelation: ResampledFigure
      /** `n / (1 + (n - 1) * mean correlation)`, at most n. */
      readonly value: number
      /** The mean correlation is below 0: read `value` as "n or more". */
      readonly isOrMore: boolean
      /** The interval of 95 % of the value. */
      readonly interval: Interval & { readonly isHighOrMore: boolean }
      /** A seat has fewer than `FEW_ERRORS` errors or right votes: the interval may be too narrow. */
      readonly hasFewErrors: boolean
      /** Pairs of these seats that do not count: too few shared runs, or no correlation in them. */
      readonly pairsLeftOut: number
    }
  | { readonly kind: "unknown"; readonly reason: "too few runs"; readonly missing: MissingRuns }
  /** Fewer than two seats have a correlation, however many runs there are. */
  | { readonly kind: "unknown"; readonly reason: "no correlation" }

/** How runs with a truth differ from runs without. */
export interface TruthShare {
  readonly runs: number
  readonly withTruth: number
  /** With its interval of 95 %; absent without runs. */
  readonly share?: ShareInterval
  readonly outcomes: {
    readonly withTruth: Readonly<Record<CommitteeOutcome, number>>
    readonly withoutTruth: Readonly<Record<CommitteeOutcome, number>>
  }
  /**
   * The share of positive outcomes among the decided runs with a truth, less that among those without one, with its
   * interval of 95 % (Newcombe 1998). Absent where a group has no decided run. An interval without 0 says that the runs
   * with a truth are not like the others.
   */
  readonly positiveDifference?: ResampledFigure
}

/** All figures of one set of seats. */
export interface Independence {
  readonly runs: number
  readonly cases: number
  readonly truth: TruthShare
  readonly seats: ReadonlyArray<SeatErrors>
  /** Each pair once, in the order of the seats. */
  readonly pairs: ReadonlyArray<SeatPair>
  readonly effectiveVotes: EffectiveVotes
}

export interface ResampleOptions {
  readonly resamples?: number
  /** The same runs and seed give the same intervals, in whatever order the runs are added. */
  readonly seed?: number
}
