/** A stated confidence, from 0 to 1, and whether it was right. */
export interface Forecasted {
  readonly confidence: number
  readonly isRight: boolean
}

/** One bin of a reliability curve. */
export interface ReliabilityBin {
  readonly low: number
  readonly high: number
  readonly n: number
  /** Mean of the confidences. */
  readonly confidence: number
  /** Share of right ones. */
  readonly right: number
}

/** Sums of confidences by bin; their size does not grow with the number of confidences. */
export interface Calibration {
  readonly bins: ReadonlyArray<{ readonly n: number; readonly confidence: number; readonly right: number }>
  readonly squaredError: number
}

export const RELIABILITY_BINS = 10

export const emptyCalibration: Calibration = {
  bins: Array.from({ length: RELIABILITY_BINS }, () => ({ n: 0, confidence: 0, right: 0 })),
  squaredError: 0
}

export const addToCalibration = (
  { bins, squaredError }: Calibration,
  { confidence, isRight }: Forecasted
): Calibration => {
  const right = isRight ? 1 : 0
  // The last bin includes 1.
  const bin = Math.min(RELIABILITY_BINS - 1, Math.floor(confidence * RELIABILITY_BINS))
  return {
    bins: bins.map((so, at) =>
      at === bin ? { n: so.n + 1, confidence: so.confidence + confidence, right: so.right + right } : so
    ),
    squaredError: squaredError + (confidence - right) ** 2
  }
}

/** Mean squared error of the confidences (Brier 1950): 0 is best, 1 is worst; undefined without any. */
export const brierScore = ({ bins, squaredError }: Calibration): { score: number; n: number } | undefined => {
  const n = bins.reduce((sum, bin) => sum + bin.n, 0)
  return n === 0 ? undefined : { score: squaredError / n, n }
}

/** The bins that have confidences, from the lowest. */
export const reliabilityCurve = ({ bins }: Calibration): ReadonlyArray<ReliabilityBin> =>
  bins.flatMap(({ confidence, n, right }, at) =>
    n === 0
      ? []
      : [
          {
            low: at / RELIABILITY_BINS,
            high: (at + 1) / RELIABILITY_BINS,
            n,
            confidence: confidence / n,
            right: right / n
          }
        ]
  )
