/** Successes and size of a sample. */
export interface Sample {
  readonly count: number
  readonly n: number
}

/**
 * The one-sided p-value of Fisher's exact test (Fisher 1935): how probable so few successes of `after` are, or fewer,
 * when both samples have the same rate.
 */
export const fisherDrop = (before: Sample, after: Sample): number => {
  const successes = before.count + after.count
  const all = before.n + after.n
  const least = Math.max(0, successes - before.n)
  let p = 0
  for (let count = least; count <= after.count; count++) {
    p += Math.exp(logChoose(after.n, count) + logChoose(before.n, successes - count) - logChoose(all, successes))
  }
  return Math.min(1, p)
}

const logFactorials: Array<number> = [0]

const logFactorial = (n: number): number => {
  for (let k = logFactorials.length; k <= n; k++) logFactorials.push((logFactorials[k - 1] ?? 0) + Math.log(k))
  return logFactorials[n] ?? 0
}

/** The natural logarithm of the binomial coefficient. */
export const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k)

/** The p-values of several tests, adjusted for their number and in their order (Holm 1979). */
export const holm = (pValues: ReadonlyArray<number>): ReadonlyArray<number> => {
  const adjusted = new Map<number, number>()
  let largest = 0
  const ascending = [...pValues.entries()].sort(([, left], [, right]) => left - right)
  for (const [rank, [at, p]] of ascending.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * p))
    adjusted.set(at, largest)
  }
  return pValues.map((_, at) => adjusted.get(at) ?? 1)
}
