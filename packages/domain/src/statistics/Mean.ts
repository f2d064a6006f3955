import { type Interval, twoSidedZ, wilson } from "./Wilson.ts"

/** A mean of a sample, and the interval that contains the true mean with the given confidence. */
export interface MeanInterval extends Interval {
  readonly mean: number
}

/** Values of the smallest sample whose interval is known well enough. */
export const LEAST_VALUES = 5

/**
 * The interval of a mean of at least `LEAST_VALUES` values: of zeros and ones the Wilson interval of their share,
 * otherwise the one of Student's t.
 */
export const meanInterval = (values: ReadonlyArray<number>, confidence = 0.95): MeanInterval => {
  const n = values.length
  const mean = values.reduce((sum, value) => sum + value / n, 0)
  if (values.every((value) => value === 0 || value === 1)) {
    const { high, low, rate } = wilson(values.filter((value) => value === 1).length, n, confidence)
    return { mean: rate, low, high }
  }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2 / (n - 1), 0)
  const half = twoSidedT(confidence, n - 1) * Math.sqrt(variance / n)
  return { mean, low: mean - half, high: mean + half }
}

/**
 * Student's t for both sides of this share of the distribution, from the quantile of the normal distribution
 * (Abramowitz and Stegun 1964, 26.7.5). The error is below 0.2 % from 4 degrees of freedom on.
 */
export const twoSidedT = (confidence: number, degrees: number): number => {
  const z = twoSidedZ(confidence)
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1_482 * z ** 5 - 1_920 * z ** 3 - 945 * z) / 92_160
  ]
  return terms.reduceRight((sum, term) => sum / degrees + term, 0)
}
