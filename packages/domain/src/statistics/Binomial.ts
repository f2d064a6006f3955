import { logChoose } from "./Fisher.ts"

/** Halvings of an interval of rates: more do not change a double. */
const STEPS = 60

/** The probability of at most `count` successes of `n` with this rate. */
export const binomialAtMost = (count: number, n: number, rate: number): number => {
  if (count >= n || rate <= 0) return 1
  if (count < 0 || rate >= 1) return 0
  // The shorter tail has fewer terms.
  if (count > n / 2) return Math.max(0, 1 - atMost(n - count - 1, n, 1 - rate))
  return atMost(count, n, rate)
}

const atMost = (count: number, n: number, rate: number): number => {
  const [success, failure] = [Math.log(rate), Math.log1p(-rate)]
  let sum = 0
  for (let k = 0; k <= count; k++) sum += Math.exp(logChoose(n, k) + k * success + (n - k) * failure)
  return Math.min(1, sum)
}

/**
 * The one-sided exact upper bound of a rate: the largest one under which at most `count` of `n` are not improbable
 * (Clopper and Pearson 1934). Without a sample it is 1.
 */
export const highestRate = (count: number, n: number, alpha = 0.05): number => {
  if (count >= n) return 1
  if (count <= 0) return -Math.expm1(Math.log(alpha) / n)
  let [low, high] = [count / n, 1]
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2
    if (binomialAtMost(count, n, middle) > alpha) low = middle
    else high = middle
  }
  return high
}

/** The one-sided exact lower bound of a rate (Clopper and Pearson 1934); without a sample it is 0. */
export const lowestRate = (count: number, n: number, alpha = 0.05): number => 1 - highestRate(n - count, n, alpha)

/** The smallest sample without a single failure whose lower bound reaches a rate below 1. */
export const leastWithoutFailure = (rate: number, alpha = 0.05): number => {
  let n = Math.max(1, Math.floor(Math.log(alpha) / Math.log(rate)))
  while (lowestRate(n, n, alpha) < rate) n++
  return n
}
