import {
  addToCalibration,
  brierScore,
  type Calibration,
  emptyCalibration,
  type ReliabilityBin,
  reliabilityCurve
} from "../statistics/Calibration.ts"
import { type Interval, twoSidedZ, wilson } from "../statistics/Wilson.ts"
import { sumUsd } from "../values/Money.ts"
import type { AgentVote } from "./AgentVote.ts"

/** Sums over the votes of an agent; their size does not grow with the runs. */
export interface AgentTally {
  readonly runs: number
  readonly withOutcome: number
  readonly judged: number
  readonly right: number
  readonly againstMajority: number
  readonly rightAgainstMajority: number
  readonly pivotal: number
  readonly calibration: Calibration
  readonly costUsd: number
  readonly guessedCostUsd: number
  readonly judgedCostUsd: number
}

export const emptyTally: AgentTally = {
  runs: 0,
  withOutcome: 0,
  judged: 0,
  right: 0,
  againstMajority: 0,
  rightAgainstMajority: 0,
  pivotal: 0,
  calibration: emptyCalibration,
  costUsd: 0,
  guessedCostUsd: 0,
  judgedCostUsd: 0
}

/** Adds a vote; `truth` says whether the decision was right, undefined when that is unknown. */
export const addVote = (so: AgentTally, vote: AgentVote, truth: boolean | undefined): AgentTally => {
  const { confidence, costUsd, guessedCostUsd, isAgainstMajority, isForOutcome, isPivotal } = vote
  const isJudged = truth !== undefined
  // A vote against a wrong decision was right.
  const isRight = isForOutcome === truth
  const counts = (condition: boolean) => (condition ? 1 : 0)
  return {
    runs: so.runs + 1,
    withOutcome: so.withOutcome + counts(isForOutcome),
    judged: so.judged + counts(isJudged),
    right: so.right + counts(isRight),
    againstMajority: so.againstMajority + counts(isJudged && isAgainstMajority),
    rightAgainstMajority: so.rightAgainstMajority + counts(isRight && isAgainstMajority),
    pivotal: so.pivotal + counts(isPivotal),
    calibration:
      isJudged && confidence !== undefined ? addToCalibration(so.calibration, { confidence, isRight }) : so.calibration,
    costUsd: sumUsd([so.costUsd, costUsd]),
    guessedCostUsd: sumUsd([so.guessedCostUsd, guessedCostUsd]),
    judgedCostUsd: isJudged ? sumUsd([so.judgedCostUsd, costUsd]) : so.judgedCostUsd
  }
}

/** The stated confidences of judged votes beside how often these were right. */
export interface StatedConfidence {
  readonly n: number
  /** Mean of the confidences. */
  readonly mean: number
  /** Share of right votes. */
  readonly right: number
  /** `mean` less `right`, with the interval of 95 % of a mean difference: above 0 is overconfident. */
  readonly gap: Interval & { readonly value: number }
}

const Z = twoSidedZ(0.95)

const statedConfidence = ({ bins, squaredError }: Calibration): StatedConfidence | undefined => {
  const sums = bins.reduce(
    (so, bin) => ({ n: so.n + bin.n, confidence: so.confidence + bin.confidence, right: so.right + bin.right }),
    { n: 0, confidence: 0, right: 0 }
  )
  const { confidence, n, right } = sums
  if (n === 0) return undefined
  const value = (confidence - right) / n
  // Of one vote, and of votes that are all off by the same, nothing says how far others are off.
  const variance = n === 1 ? 0 : Math.max(0, (squaredError - n * value * value) / (n - 1))
  const half = variance < 1e-12 ? 1 : Z * Math.sqrt(variance / n)
  const gap = { value, low: Math.max(-1, value - half), high: Math.min(1, value + half) }
  return { n, mean: confidence / n, right: right / n, gap }
}

/** How often the votes of an agent were right (docs/reference/marks.md#record). */
export interface AgentRecord extends Omit<AgentTally, "calibration" | "judgedCostUsd"> {
  readonly rightShare?: number
  readonly rightInterval?: Interval
  readonly brier?: { readonly score: number; readonly n: number }
  readonly confidence?: StatedConfidence
  readonly reliability: ReadonlyArray<ReliabilityBin>
  readonly costPerRightUsd?: number
}

export const agentRecord = ({ calibration, judgedCostUsd, ...sums }: AgentTally): AgentRecord => {
  const { high, low, rate } = wilson(sums.right, sums.judged)
  const brier = brierScore(calibration)
  const confidence = statedConfidence(calibration)
  return {
    ...sums,
    ...(sums.judged > 0 && { rightShare: rate, rightInterval: { low, high } }),
    ...(brier !== undefined && { brier }),
    ...(confidence !== undefined && { confidence }),
    reliability: reliabilityCurve(calibration),
    ...(sums.right > 0 && { costPerRightUsd: judgedCostUsd / sums.right })
  }
}
