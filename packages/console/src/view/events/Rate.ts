import type { TimeSpan } from "../charts/Series.ts"

/** Lengths that a bucket can have, milliseconds. */
const LENGTHS = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000]
const BUCKETS = 120

export interface Rate {
  readonly bucketMs: number
  /** Starts of the buckets, milliseconds. */
  readonly at: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

/** How many of these times fall into each bucket; as many buckets as a chart can show. */
export const rateOf = (times: ReadonlyArray<number>, { from, to }: TimeSpan): Rate => {
  const length = Math.max(1, to - from)
  const bucketMs = LENGTHS.find((candidate) => length / candidate <= BUCKETS) ?? Math.ceil(length / BUCKETS)
  const first = Math.floor(from / bucketMs) * bucketMs
  const count = Math.max(1, Math.ceil((to - first) / bucketMs))
  const counts = new Array<number>(count).fill(0)
  for (const time of times) {
    const bucket = Math.floor((time - first) / bucketMs)
    if (bucket >= 0 && bucket < count) counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return { bucketMs, at: counts.map((_, bucket) => first + bucket * bucketMs), counts }
}
