/** The smallest of the values that at least this share of them does not exceed; NaN when there are none. */
export const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN

export const ascending = (values: Iterable<number>): ReadonlyArray<number> =>
  Array.from(values).sort((left, right) => left - right)

/** With an even count the mean of the two in the middle. */
export const median = (values: Iterable<number>): number => {
  const sorted = ascending(values)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export interface Spread {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export const spreadOf = (values: Iterable<number>): Spread => {
  const sorted = ascending(values)
  return {
    count: sorted.length,
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    max: percentile(sorted, 1)
  }
}
