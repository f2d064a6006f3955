export type Bucket = "minute" | "hour" | "day"

/** A stretch of time: `from` inclusive, `to` exclusive; without `to` it is open. ISO-8601. */
export interface Span {
  readonly from: string
  readonly to: string | undefined
}

/** Whole buckets that follow each other. */
export interface Whole extends Span {
  readonly unit: Bucket
}

/** A window in parts that touch and do not overlap: buckets as large as can be, and what is in none. */
export interface WindowParts {
  readonly whole: ReadonlyArray<Whole>
  readonly edges: ReadonlyArray<Span>
}

/** Milliseconds of a bucket. */
export const BUCKET_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** From the largest on: those that make up a bucket. */
const UNITS: Readonly<Record<Bucket, ReadonlyArray<Bucket>>> = {
  minute: ["minute"],
  hour: ["hour", "minute"],
  day: ["day", "hour", "minute"]
}

/** The last moment that has a time in ISO-8601 with four digits of a year; PostgreSQL reads no other. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z")

/**
 * The parts of a span of time, in their order, none longer than `bucket`. An open one ends with single minutes from
 * `now` on (milliseconds), so that what is still being added to is small.
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

const iso = (ms: number) => (ms > LAST_MS ? "infinity" : new Date(ms).toISOString())
