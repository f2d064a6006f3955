/** A figure of a sample, and the percentile interval of its resamples. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

const RESAMPLES = 1_000
const SEED = 0x9e3779b9

/** The smallest value that at least this share of the values does not exceed (nearest rank); 0 without values. */
export const percentile = (values: ReadonlyArray<number>, share: number): number => ofSorted(ascending(values), share)

/** The 95th percentile with its 95 % interval: 1,000 resamples with a fixed seed (Efron 1979). */
export const p95Estimate = (values: ReadonlyArray<number>): Estimate =>
  estimate(percentile(values, 0.95), resampled(values, random(SEED)))

/** The difference of the 95th percentiles of two samples, `after` less `before`, resampled in the same way. */
export const p95Difference = (before: ReadonlyArray<number>, after: ReadonlyArray<number>): Estimate => {
  const next = random(SEED)
  const [left, right] = [resampled(before, next), resampled(after, next)]
  const differences = right.map((value, at) => value - (left[at] ?? 0))
  return estimate(percentile(after, 0.95) - percentile(before, 0.95), differences)
}

const estimate = (value: number, resamples: ReadonlyArray<number>): Estimate => {
  const sorted = ascending(resamples)
  return { value, low: Math.min(value, ofSorted(sorted, 0.025)), high: Math.max(value, ofSorted(sorted, 0.975)) }
}

/** The 95th percentile of each resample. */
const resampled = (values: ReadonlyArray<number>, next: () => number): ReadonlyArray<number> =>
  Array.from({ length: RESAMPLES }, () => {
    const drawn = values.map(() => values[Math.floor(next() * values.length)] ?? 0)
    return percentile(drawn, 0.95)
  })

const ascending = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)

const ofSorted = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)] ?? 0

/** Numbers in [0, 1) from a seed (Mulberry32, Ettinger 2017). */
export const random = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
