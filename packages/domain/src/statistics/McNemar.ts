import { binomialAtMost } from "./Binomial.ts"
import { logChoose } from "./Fisher.ts"
import { twoSidedZ } from "./Wilson.ts"

/** Pairs of one session with two results, of which one is right and the other is not. */
export interface Discordant {
  readonly firstOnly: number
  readonly secondOnly: number
}

/**
 * The two-sided p-value of McNemar's exact test: how probable so unequal a split of the discordant pairs is, or a more
 * unequal one, when both are right equally often (McNemar 1947). It is 1 without discordant pairs.
 */
export const mcNemar = ({ firstOnly, secondOnly }: Discordant): number =>
  Math.min(1, 2 * binomialAtMost(Math.min(firstOnly, secondOnly), firstOnly + secondOnly, 0.5))

/** What a paired comparison has to find. */
export interface PairedTest {
  /** The share of pairs that differ, whichever is right. */
  readonly discordance: number
  /** The difference of the two rates that is to be found; at most the discordance. */
  readonly difference: number
  readonly alpha?: number
  /** The chance to find it. */
  readonly power?: number
}

/** Standard deviations around the mean beyond which the numbers of discordant pairs do not count. */
const WINDOW = 9

/** The chance that `n` pairs give a p-value of at most `alpha`, whichever of the two is better. */
export const pairedPower = (n: number, { alpha = 0.05, difference, discordance }: PairedTest): number => {
  const better = discordance === 0 ? 0.5 : (discordance + difference) / (2 * discordance)
  const mean = n * discordance
  const reach = WINDOW * Math.sqrt(mean * (1 - discordance)) + WINDOW
  const [first, last] = [Math.max(0, Math.floor(mean - reach)), Math.min(n, Math.ceil(mean + reach))]
  const isSignificant = (smaller: number, m: number) =>
    mcNemar({ firstOnly: smaller, secondOnly: m - smaller }) <= alpha
  let most = largest(first, (smaller) => isSignificant(smaller, first))
  let power = 0
  for (let m = first; m <= last; m++) {
    // The largest smaller side that is still significant grows with the discordant pairs.
    while (2 * (most + 1) <= m && isSignificant(most + 1, m)) most++
    if (most < 0) continue
    power += probabilityOf(m, n, discordance) * (binomialAtMost(most, m, better) + binomialAtMost(most, m, 1 - better))
  }
  return Math.min(1, power)
}

/** The largest number up to the half of `m` that satisfies, where all smaller ones do; -1 for none. */
const largest = (m: number, satisfies: (smaller: number) => boolean): number => {
  let [low, high] = [-1, Math.floor(m / 2) + 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (satisfies(middle)) low = middle
    else high = middle
  }
  return low
}

const probabilityOf = (count: number, n: number, rate: number): number => {
  if (rate <= 0) return count === 0 ? 1 : 0
  if (rate >= 1) return count === n ? 1 : 0
  return Math.exp(logChoose(n, count) + count * Math.log(rate) + (n - count) * Math.log1p(-rate))
}

/** Pairs beyond which no sample size is computed. */
export const MAX_PAIRS = 5_000

/**
 * The pairs that find the difference with the wanted chance by the exact test, where one fewer would not; undefined
 * where more than `MAX_PAIRS` are needed. The search begins at the size by the normal distribution (Connor 1987). The
 * chance of an exact test falls a little here and there as pairs are added, so a smaller number may do too.
 */
export const pairedRunsNeeded = (test: PairedTest): number | undefined => {
  const { alpha = 0.05, difference, discordance, power = 0.8 } = test
  if (!(difference > 0) || difference > discordance) return undefined
  const approximate =
    (twoSidedZ(1 - alpha) * Math.sqrt(discordance) +
      twoSidedZ(2 * power - 1) * Math.sqrt(discordance - difference * difference)) **
      2 /
    (difference * difference)
  if (approximate > MAX_PAIRS) return undefined
  let [low, high] = [0, Math.max(8, Math.ceil(approximate))]
  while (pairedPower(high, test) < power) {
    low = high
    high = Math.ceil(high * 1.25)
    if (high > 2 * MAX_PAIRS) return undefined
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (pairedPower(middle, test) >= power) high = middle
    else low = middle
  }
  return high <= MAX_PAIRS ? high : undefined
}
