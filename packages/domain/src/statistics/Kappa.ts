import { type Interval, twoSidedZ, wilson } from "./Wilson.ts"

const Z = twoSidedZ(0.95)

/** How many targets got one value of the first rater and one of the second; values are compared as texts. */
export interface RatedPair {
  readonly left: string
  readonly right: string
  readonly count: number
}

/**
 * How far apart two values are: `none`, equal or not; `linear`, the distance of their positions; `quadratic`, its
 * square.
 */
export type KappaWeights = "none" | "linear" | "quadratic"

/** Agreement of two raters about the same targets. */
export interface Agreement {
  readonly n: number
  /** Targets with the same value of both. */
  readonly agreed: number
  /**
   * Cohen's kappa (Cohen 1960, weighted 1968) with its interval of 95 % from the asymptotic standard error of Fleiss,
   * Cohen and Everitt (1969). Where the standard error is 0, the lower end follows from the Wilson interval of equal
   * values, and it is all of -1 to 1 where values differ. Undefined without targets, and where both raters give one
   * and the same value always.
   */
  readonly kappa: (Interval & { readonly value: number; readonly standardError: number }) | undefined
}

/** Targets by the value of one rater. */
type Margin = ReadonlyMap<string, number>

/** The distances of a weighting over the values of both raters. */
interface Distances {
  readonly between: (left: string, right: string) => number
  /** Mean distance of a value of the first rater from the values of the second one. */
  readonly fromRight: (left: string) => number
  readonly fromLeft: (right: string) => number
}

/**
 * The agreement of two raters. `positionOf` is the position of a value on its scale, for weights. The cost is linear in
 * the pairs, but for linear weights, where it grows with the product of the numbers of values.
 */
export const kappaOf = (
  pairs: ReadonlyArray<RatedPair>,
  weights: KappaWeights = "none",
  positionOf: (value: string) => number = () => 0
): Agreement => {
  const left = new Map<string, number>()
  const right = new Map<string, number>()
  let n = 0
  let agreed = 0
  for (const pair of pairs) {
    n += pair.count
    if (pair.left === pair.right) agreed += pair.count
    left.set(pair.left, (left.get(pair.left) ?? 0) + pair.count)
    right.set(pair.right, (right.get(pair.right) ?? 0) + pair.count)
  }
  if (n === 0) return { n, agreed, kappa: undefined }
  const { between, fromLeft, fromRight } = distancesOf(weights, left, right, n, positionOf)
  let expected = 0
  for (const [value, count] of left) expected += (count * fromRight(value)) / n
  if (!(expected > 0)) return { n, agreed, kappa: undefined }
  let observed = 0
  for (const pair of pairs) observed += (pair.count * between(pair.left, pair.right)) / n
  const disagreement = observed / expected
  // The variance of Fleiss, Cohen and Everitt, in distances instead of weights.
  let spread = 0
  for (const pair of pairs) {
    const term = (fromRight(pair.left) + fromLeft(pair.right)) * disagreement - between(pair.left, pair.right)
    spread += (pair.count / n) * (term - observed) ** 2
  }
  const value = 1 - disagreement
  const standardError = Math.sqrt(spread / n) / expected
  const isExact = standardError < 1e-9
  const leastEqual = wilson(agreed, n).low
  // A target that differs is as far apart as names are, or on a scale as far as by chance.
  const apart = weights === "none" ? 1 / expected : 1
  const low = !isExact ? value - Z * standardError : observed === 0 ? 1 - (1 - leastEqual) * apart : -1
  const high = isExact ? 1 : value + Z * standardError
  return { n, agreed, kappa: { value, standardError, low: Math.max(-1, low), high: Math.min(1, high) } }
}

const distancesOf = (
  weights: KappaWeights,
  left: Margin,
  right: Margin,
  n: number,
  positionOf: (value: string) => number
): Distances => {
  if (weights === "none") {
    return {
      between: (one, other) => (one === other ? 0 : 1),
      fromRight: (value) => (n - (right.get(value) ?? 0)) / n,
      fromLeft: (value) => (n - (left.get(value) ?? 0)) / n
    }
  }
  const positions = new Map([...left.keys(), ...right.keys()].map((value) => [value, positionOf(value)]))
  const all = [...positions.values()]
  const lowest = all.reduce((least, position) => Math.min(least, position), Number.POSITIVE_INFINITY)
  const at = (value: string) => (positions.get(value) ?? lowest) - lowest
  const means = weights === "linear" ? linearMeans : quadraticMeans
  const power = weights === "linear" ? 1 : 2
  return {
    between: (one, other) => Math.abs(at(one) - at(other)) ** power,
    fromRight: means(right, n, at),
    fromLeft: means(left, n, at)
  }
}

const linearMeans = (margin: Margin, n: number, at: (value: string) => number) => (value: string) => {
  let sum = 0
  for (const [other, count] of margin) sum += count * Math.abs(at(value) - at(other))
  return sum / n
}

/** Without a loop over the other values, which may be many: variance, and square of the distance from the mean. */
const quadraticMeans = (margin: Margin, n: number, at: (value: string) => number) => {
  let sum = 0
  for (const [value, count] of margin) sum += count * at(value)
  const mean = sum / n
  let squares = 0
  for (const [value, count] of margin) squares += count * (at(value) - mean) ** 2
  return (value: string) => squares / n + (at(value) - mean) ** 2
}
