export interface Interval {
  readonly low: number
  readonly high: number
}

/** A share of a sample, and the interval that contains the true share with the given confidence. */
export interface ShareInterval extends Interval {
  readonly rate: number
}

/**
 * The Wilson score interval of `count` out of `n`, two-sided, without continuity correction (Wilson 1927). Without a
 * sample the interval is all of [0, 1].
 */
export const wilson = (count: number, n: number, confidence = 0.95): ShareInterval => {
  if (n === 0) return { rate: 0, low: 0, high: 1 }
  const z = twoSidedZ(confidence)
  const rate = count / n
  const centre = (count + (z * z) / 2) / (n + z * z)
  const half = (z / (n + z * z)) * Math.sqrt(n * rate * (1 - rate) + (z * z) / 4)
  // Rounding must not exclude the observed rate.
  return {
    rate,
    low: count === 0 ? 0 : Math.min(rate, centre - half),
    high: count === n ? 1 : Math.max(rate, centre + half)
  }
}

/** The number of standard deviations on both sides of the mean that contain this share of a normal distribution. */
export const twoSidedZ = (confidence: number): number => normalQuantile((1 + confidence) / 2)

/** The quantile of the standard normal distribution for 0 < p < 1 (Wichura 1988, algorithm AS 241, PPND7). */
const normalQuantile = (p: number): number => {
  const q = p - 0.5
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q
    return (q * horner(CENTRAL, r)) / horner(CENTRAL_BELOW, r)
  }
  const r = Math.sqrt(-Math.log(q < 0 ? p : 1 - p))
  const tail =
    r <= 5 ? horner(MIDDLE, r - 1.6) / horner(MIDDLE_BELOW, r - 1.6) : horner(FAR, r - 5) / horner(FAR_BELOW, r - 5)
  return q < 0 ? -tail : tail
}

const horner = (coefficients: ReadonlyArray<number>, x: number): number =>
  coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0)

const CENTRAL = [3.3871327179, 50.434271938, 159.29113202, 59.10937472]
const CENTRAL_BELOW = [1, 17.895169469, 78.757757664, 67.1875636]
const MIDDLE = [1.4234372777, 2.75681539, 1.3067284816, 0.17023821103]
const MIDDLE_BELOW = [1, 0.7370016425, 0.12021132975]
const FAR = [6.657905115, 3.081226386, 0.42868294337, 0.017337203997]
const FAR_BELOW = [1, 0.24197894225, 0.012258202635]
