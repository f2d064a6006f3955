import type { Chart } from "@runplane/api"

/** A time range, Unix milliseconds. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * Length of a bucket of the dashboard (docs/reference/search.md#dashboard-window), milliseconds. `isGiven`: with from
 * and to.
 */
export const bucketMs = ({ from, to }: TimeSpan, isGiven: boolean): number => {
  const length = to - from
  if (length <= 6 * HOUR) return MINUTE
  return length <= (isGiven ? 48 : 24) * HOUR ? HOUR : DAY
}

/** Most buckets that a chart draws. */
const MOST_BUCKETS = 2_000

/** The starts of all buckets of a span, milliseconds. */
export const bucketsOf = ({ from, to }: TimeSpan, length: number): ReadonlyArray<number> => {
  const first = Math.floor(from / length) * length
  const count = Math.min(MOST_BUCKETS, Math.max(1, Math.ceil((to - first) / length)))
  return Array.from({ length: count }, (_, at) => first + at * length)
}

/** Fewest buckets of a chart, so that a single one is not as wide as the chart. */
const FEWEST_BUCKETS = 12

/** The buckets from the first one with data, so that a chart of a young service is not empty for the most part. */
export const fromFirstData = (
  buckets: ReadonlyArray<number>,
  charts: ReadonlyArray<Pick<Chart, "labels">>
): ReadonlyArray<number> => {
  const first = Math.min(...charts.flatMap(({ labels }) => labels.map((label) => Date.parse(label))))
  const start = buckets.findLastIndex((at) => at <= first)
  return buckets.slice(Math.max(0, Math.min(start, buckets.length - FEWEST_BUCKETS)))
}

/**
 * A sparse series over all buckets: the service leaves out those without data. `missing` is what such a bucket has: 0
 * for what is counted, null for what is measured.
 */
export const overBuckets = (
  { data, labels }: Chart,
  buckets: ReadonlyArray<number>,
  missing: 0 | null
): ReadonlyArray<number | null> => {
  const known = new Map(labels.map((label, at) => [Date.parse(label), data[at] ?? missing]))
  return buckets.map((at) => known.get(at) ?? missing)
}

/** How much more or less a share is than before: a share of 1, which readers see as points. */
export const pointsOf = (now: number | undefined, before: number | undefined): number | undefined =>
  now === undefined || before === undefined ? undefined : now - before

/** How much more or less than before: a share, or undefined when there was nothing to compare with. */
export const changeOf = (now: number | undefined | null, before: number | undefined | null): number | undefined =>
  now === undefined || now === null || before === undefined || before === null || before === 0
    ? undefined
    : (now - before) / Math.abs(before)
