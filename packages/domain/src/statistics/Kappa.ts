import { type Interval, twoSidedZ } from "./Wilson.ts"

const Z = twoSidedZ(0.95)

/** How many targets got one value of the first rater and one of the second; values are compared as texts. */
export interface RatedPair {
  readonly left: string
  readonly right: string
  readonly count: number
}

/** Agreement of two raters about the same targets. */
export interface Agreement {
  readonly n: number
  /** Targets with the same value of both. */
  readonly agreed: number
  /**
   * Cohen's kappa (Cohen 1960) with its interval of 95 % from the asymptotic standard error of Fleiss, Cohen and
   * Everitt (1969). Undefined without targets, and where both raters give one and the same value always.
   */
  readonly kappa: (Interval & { readonly value: number; readonly standardError: number }) | undefined
}

/** The agreement of two raters; its cost is linear in the pairs, so the values may be many. */
export const kappaOf = (pairs: ReadonlyArray<RatedPair>): Agreement => {
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
  const leftShare = (value: string) => (left.get(value) ?? 0) / n
  const rightShare = (value: string) => (right.get(value) ?? 0) / n
  const isConstant = left.size === 1 && right.size === 1 && agreed === n
  if (n === 0 || isConstant) return { n, agreed, kappa: undefined }
  // Of whole numbers, so that a kappa on a limit is not below it.
  let chance = 0
  for (const [value, count] of left) chance += count * (right.get(value) ?? 0)
  const value = (n * agreed - chance) / (n * n - chance)
  const expected = chance / (n * n)
  // The three terms of the variance in Fleiss, Cohen and Everitt (1969).
  let spread = 0
  for (const pair of pairs) {
    const share = pair.count / n
    spread +=
      pair.left === pair.right
        ? share * (1 - (leftShare(pair.left) + rightShare(pair.left)) * (1 - value)) ** 2
        : share * ((rightShare(pair.left) + leftShare(pair.right)) * (1 - value)) ** 2
  }
  const variance = (spread - (value - expected * (1 - value)) ** 2) / (n * (1 - expected) ** 2)
  const standardError = Math.sqrt(Math.max(0, variance))
  return {
    n,
    agreed,
    kappa: {
      value,
      standardError,
      low: Math.max(-1, value - Z * standardError),
      high: Math.min(1, value + Z * standardError)
    }
  }
}
