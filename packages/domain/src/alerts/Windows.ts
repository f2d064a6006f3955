import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/** The windows that are calendar periods; a week begins on Monday (ISO 8601). */
export type CalendarWindow = "day" | "week" | "month"
/** The windows that roll by minute. */
export type RollingWindow = "1h" | "24h"
/** The window of a rule: one run, the last hour or 24 hours, or a calendar period in the zone of the rule. */
type Window = "run" | RollingWindow | CalendarWindow

/** A half-open interval of time, `start <= t < end`, Unix milliseconds, and its name. */
export interface Period {
  /**
   * `2026-11-26`, `2026-W48` (ISO week), `2026-11`; a rolling window has its last minute, `2026-11-26T14:03Z`; a run
   * has `run`.
   */
  readonly key: string
  readonly start: number
  readonly end: number
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The only period of the window `run`: all time of the run. */
const WHOLE_RUN: Period = { key: "run", start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }

export const isCalendarWindow = (window: Window): window is CalendarWindow =>
  window === "day" || window === "week" || window === "month"

export const isRollingWindow = (window: Window): window is RollingWindow => window === "1h" || window === "24h"

/** Whether this is the name of an IANA time zone, such as `Europe/Berlin` or `UTC`. */
export const isZoneName = (name: string): boolean =>
  /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name))

/** The bucket of a rolling window that contains a time: minutes since 1970. */
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)

/** The number of buckets of a rolling window. */
export const minutesOf = (window: RollingWindow): number => (window === "1h" ? 60 : 1_440)

/**
 * The buckets of a rolling window at a time, both inclusive. The value of the window is the sum over these buckets: the
 * current minute and the 59 or 1,439 before it.
 */
export const bucketsOf = (window: RollingWindow, at: number): { readonly first: number; readonly last: number } => {
  const last = minuteOf(at)
  return { first: last - minutesOf(window) + 1, last }
}

export const isInPeriod = ({ end, start }: Period, at: number): boolean => start <= at && at < end

/**
 * The period of a window at a time (Unix milliseconds). The zone, an IANA name, matters to calendar periods alone.
 *
 * Calendar periods follow each other without a gap, whatever the clocks do: a period begins with the first occurrence
 * of its midnight, or with the end of the gap where the zone has no such midnight. A caller that reads many times in
 * order keeps the period while `isInPeriod` holds, because a calendar period costs some 50 microseconds.
 */
export const periodOf = (window: Window, zone: string, at: number): Period => {
  switch (window) {
    case "run":
      return WHOLE_RUN
    case "1h":
    case "24h": {
      const { first, last } = bucketsOf(window, at)
      return { key: `${minuteText(last)}Z`, start: first * MINUTE_MS, end: (last + 1) * MINUTE_MS }
    }
    default: {
      const timeZone = DateTime.zoneMakeNamedUnsafe(zone)
      const local = DateTime.toParts(DateTime.makeZonedUnsafe(at, { timeZone }))
      const first = firstDayOf(window, Date.UTC(local.year, local.month - 1, local.day))
      const period = calendarPeriod(window, timeZone, first)
      // Where the clock goes back across midnight, the local date of some times is the one before their period.
      return at < period.end ? period : calendarPeriod(window, timeZone, nextFirstDay(window, first))
    }
  }
}

const minuteText = (minute: number): string => new Date(minute * MINUTE_MS).toISOString().slice(0, 16)

// Local days are written as midnights of UTC, so that the arithmetic of days knows no clock changes.

const firstDayOf = (window: CalendarWindow, day: number): number => {
  const date = new Date(day)
  switch (window) {
    case "day":
      return day
    case "week":
      return day - isoWeekday(date) * DAY_MS
    case "month":
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  }
}

const nextFirstDay = (window: CalendarWindow, first: number): number => {
  const date = new Date(first)
  return window === "month"
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    : first + (window === "week" ? 7 : 1) * DAY_MS
}

const calendarPeriod = (window: CalendarWindow, zone: DateTime.TimeZone, first: number): Period => ({
  key: keyOf(window, first),
  start: midnightOf(zone, first),
  end: midnightOf(zone, nextFirstDay(window, first))
})

const midnightOf = (timeZone: DateTime.TimeZone, day: number): number =>
  DateTime.toEpochMillis(
    DateTime.makeZonedUnsafe(day, { timeZone, adjustForTimeZone: true, disambiguation: "compatible" })
  )

/** Monday is 0. */
const isoWeekday = (date: Date): number => (date.getUTCDay() + 6) % 7

const keyOf = (window: CalendarWindow, first: number): string => {
  const text = new Date(first).toISOString()
  switch (window) {
    case "day":
      return text.slice(0, 10)
    case "month":
      return text.slice(0, 7)
    case "week": {
      // The Thursday of a week decides its year.
      const thursday = first + 3 * DAY_MS
      const year = new Date(thursday).getUTCFullYear()
      const week = Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1
      return `${year}-W${String(week).padStart(2, "0")}`
    }
  }
}
