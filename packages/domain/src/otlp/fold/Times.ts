const DIGITS = /^\d{1,20}$/
const NANOS_PER_MS = 1_000_000n
/** The largest time of a `Date`, in milliseconds. */
const MAX_TIME = 8_640_000_000_000_000

const nanosOf = (text: string): bigint => (DIGITS.test(text) ? BigInt(text) : 0n)

/** Unix nanoseconds as Unix milliseconds. */
export const millisOf = (nanos: string): number => Math.min(Number(nanosOf(nanos) / NANOS_PER_MS), MAX_TIME)

/** Unix milliseconds as ISO text. */
export const isoOf = (millis: number): string =>
  new Date(Number.isFinite(millis) ? Math.max(0, Math.min(Math.trunc(millis), MAX_TIME)) : 0).toISOString()

/** Unix nanoseconds as ISO text. */
export const isoOfNanos = (nanos: string): string => isoOf(millisOf(nanos))

/** Further from now than this, a clock of the application is wrong. Milliseconds. */
const LARGEST_SKEW_MS = 86_400_000
/**
 * The longest duration of a run or of one of its spans. A clock that says more is wrong, and lists, sums of time and
 * windows of cost could not use it. Milliseconds.
 */
export const LONGEST_MS = 30 * 86_400_000

/** The times that a run is recorded with, ISO-8601. */
export interface RecordedTimes {
  readonly startedAt: string
  readonly endedAt: string
  /** The time by the spans, where it differs. */
  readonly spansEndedAt?: string
  /** The start by the spans, where they say a longer duration than a run can have. */
  readonly spansStartedAt?: string
}

/**
 * The times of a run by its spans (Unix nanoseconds). With a clock that is more than a day wrong or ahead of `now`,
 * which searches and retention could not use, the run ends now and keeps its duration, up to `LONGEST_MS`.
 */
export const recordedTimes = (from: string, to: string, now: number): RecordedTimes => {
  const [start, end] = [millisOf(from), Math.max(millisOf(from), millisOf(to))]
  const times = { startedAt: isoOf(start), endedAt: isoOf(end) }
  if (now - start < LARGEST_SKEW_MS && end <= now) return times
  const duration = end - start
  return {
    startedAt: isoOf(now - Math.min(duration, LONGEST_MS)),
    endedAt: isoOf(now),
    spansEndedAt: times.endedAt,
    ...(duration > LONGEST_MS && { spansStartedAt: times.startedAt })
  }
}

/** Milliseconds between two times, to three decimals, up to `LONGEST_MS`; 0 when the end lies before the start. */
export const durationMs = (from: string, to: string): number =>
  Math.min(LONGEST_MS, Math.max(0, Math.round(Number(nanosOf(to) - nanosOf(from)) / 1_000) / 1_000))
