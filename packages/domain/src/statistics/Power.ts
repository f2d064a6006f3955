import { binomialAtMost } from "./Binomial.ts"
import { fisherDrop, type Sample } from "./Fisher.ts"

/** The chance to find a drop that counts as seen. */
const POWER = 0.8
const STEPS = 30

/** What a comparison with a baseline demands of a drop. */
export interface DropTest {
  /** The largest p-value of a drop. */
  readonly significance: number
  /** A drop of this size or less is none. */
  readonly minDrop: number
}

/** Whether so few successes afterwards are a drop: improbable by chance, and large enough. */
export const isDrop = (before: Sample, after: Sample, { minDrop, significance }: DropTest): boolean =>
  before.n > 0 &&
  after.n > 0 &&
  fisherDrop(before, after) <= significance &&
  before.count / before.n - after.count / after.n > minDrop

/**
 * The smallest drop of the rate that `n` runs afterwards find with a chance of 80 %, given what was recorded before; a
 * smaller one is missed more often. It is the whole rate when no number of successes is a drop. Exact: the binomial
 * distribution over all numbers of successes.
 */
export const unseenDrop = (before: Sample, n: number, test: DropTest): number => {
  const rate = before.n === 0 ? 0 : before.count / before.n
  let most = -1
  while (most < n && isDrop(before, { count: most + 1, n }, test)) most++
  if (most < 0) return rate
  let [low, high] = [0, rate]
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2
    if (binomialAtMost(most, n, middle) >= POWER) low = middle
    else high = middle
  }
  return rate - low
}
