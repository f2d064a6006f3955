import type { DashboardQuery } from "@runplane/api"
import { isoTime } from "@runplane/domain"

/** The time span of an overview, and the buckets of its charts. */
export interface DashboardWindow extends Span {
  readonly bucket: Bucket
  readonly parts: WindowParts
}

const HOUR_MS = 3_600_000

const WINDOWS = {
  "1h": { length: HOUR_MS, bucket: "minute" },
  "6h": { length: 6 * HOUR_MS, bucket: "minute" },
  "24h": { length: 24 * HOUR_MS, bucket: "hour" },
  "7d": { length: 7 * 24 * HOUR_MS, bucket: "day" },
  "30d": { length: 30 * 24 * HOUR_MS, bucket: "day" }
} as const

/**
 * The window of a query (docs/reference/search.md#dashboard-window): from (with to) over window over
 * range over 24h. `now` in milliseconds. Undefined when `to` is not after `from`.
 */
export const dashboardWindow = (query: DashboardQuery, now: number): DashboardWindow | undefined => {
  if (query.from === undefined) {
    const { bucket, length } = WINDOWS[query.window ?? query.range ?? "24h"]
    return windowOf({ from: isoTime(now - length), to: undefined }, bucket, now)
  }
  const end = query.to === undefined ? now : Date.parse(query.to)
  const length = end - Date.parse(query.from)
  if (query.to !== undefined && length <= 0) return undefined
  return windowOf({ from: query.from, to: query.to }, bucketOf(length), now)
}

export const windowOf = (span: Span, bucket: Bucket, now: number): DashboardWindow => ({
  ...span,
  bucket,
  parts: partsOf(span, bucket, now)
})

const bucketOf = (length: number): Bucket => {
  if (length <= 6 * HOUR_MS) return "minute"
  return length <= 48 * HOUR_MS ? "hour" : "day"
}

export type Bucket = "minute" | "hour" | "day"

/** A time span: `from` inclusive, `to` exclusive; without `to` it is open. ISO-8601. */
export interface Span {
  readonly from: string
  readonly to: string | undefined
}

/** Consecutive whole buckets. */
export interface Whole extends Span {
  readonly unit: Bucket
}

/** A window in adjacent parts: the largest whole buckets, and the edges outside of them. */
export interface WindowParts {
  readonly whole: ReadonlyArray<Whole>
  readonly edges: ReadonlyArray<Span>
}

/** Milliseconds of a bucket. */
export const BUCKET_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** The units within a bucket, the largest first. */
const UNITS: Readonly<Record<Bucket, ReadonlyArray<Bucket>>> = {
  minute: ["minute"],
  hour: ["hour", "minute"],
  day: ["day", "hour", "minute"]
}

/** The last time in ISO-8601 with a year of four digits, which PostgreSQL requires. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z")

/**
 * The parts of a time span in order, with units up to `bucket`. An open span ends with single minutes from `now`
 * (milliseconds), so that buckets which still change are small.
 */
export const partsOf = ({ from, to }: Span, bucket: Bucket, now: number): WindowParts => {
  const minute = BUCKET_MS.minute
  const start = Date.parse(from)
  const end = to === undefined ? Math.max(Math.ceil(start / minute), Math.floor(now / minute)) * minute : Date.parse(to)
  const parts = split(start, end, UNITS[bucket])
  const open: Whole = { unit: "minute", from: iso(end), to: undefined }
  return {
    whole: [
      ...parts.flatMap((part) => (part.unit === undefined ? [] : [{ ...spanOf(part), unit: part.unit }])),
      ...(to === undefined ? [open] : [])
    ],
    edges: parts.flatMap((part) => (part.unit === undefined ? [spanOf(part)] : []))
  }
}

interface Part {
  readonly from: number
  readonly to: number
  readonly unit: Bucket | undefined
}

const split = (from: number, to: number, units: ReadonlyArray<Bucket>): ReadonlyArray<Part> => {
  if (from >= to) return []
  const [unit, ...smaller] = units
  if (unit === undefined) return [{ from, to, unit }]
  const length = BUCKET_MS[unit]
  const first = Math.ceil(from / length) * length
  const last = Math.floor(to / length) * length
  if (last <= first) return split(from, to, smaller)
  return [...split(from, first, smaller), { from: first, to: last, unit }, ...split(last, to, smaller)]
}

const spanOf = ({ from, to }: Part): Span => ({ from: iso(from), to: iso(to) })

const iso = (ms: number) => (ms > LAST_MS ? "infinity" : isoTime(ms))
