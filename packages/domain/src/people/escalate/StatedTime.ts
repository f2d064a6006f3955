import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** A time as a person writes it: with an offset, or as the clocks of a named zone show it. */
const FORM =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?(?:(Z|[+-]\d\d:\d\d)|\[([A-Za-z][\w+\-/]*)\])$/

/** The furthest offset of a zone. */
const MAX_OFFSET_MS = 14 * 3_600_000

/** How a time is written, for the refusal of another text. */
export const TIME_FORM =
  "write a time with an offset, such as 2026-12-24T18:00:00+01:00, or with a zone, such as 2026-12-24T18:00[Europe/Berlin]"

/**
 * The instant that a text means, Unix milliseconds; the failure is the reason for a refusal. A local time that its zone
 * has twice or never is refused with what can be written in its stead: a right that ended an hour off would surprise.
 */
export const statedTime = (text: string): Result.Result<number, string> => {
  const [, year, month, day, hour, minute, second = "0", fraction = "0", offset, zone] = FORM.exec(text) ?? []
  if (year === undefined) return Result.fail(TIME_FORM)
  const parts = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    millisecond: Number(fraction.padEnd(3, "0"))
  }
  const asUtc = Date.UTC(
    parts.year,
    parts.month - 1,
    parts.day,
    parts.hour,
    parts.minute,
    parts.second,
    parts.millisecond
  )
  if (!isInCalendar(parts, new Date(asUtc))) return Result.fail("no calendar has this time")
  return zone === undefined ? atOffset(asUtc, offset ?? "Z") : inZone(parts, zone, text)
}

interface Parts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
}

/** Whether each part is as it was written: the 30th of February is not. */
const isInCalendar = ({ day, hour, minute, month, second, year }: Parts, date: Date): boolean =>
  year >= 1970 &&
  date.getUTCFullYear() === year &&
  date.getUTCMonth() === month - 1 &&
  date.getUTCDate() === day &&
  date.getUTCHours() === hour &&
  date.getUTCMinutes() === minute &&
  date.getUTCSeconds() === second

const atOffset = (asUtc: number, offset: string): Result.Result<number, string> => {
  if (offset === "Z") return Result.succeed(asUtc)
  const minutes = Number(offset.slice(4))
  const ms = (Number(offset.slice(1, 3)) * 60 + minutes) * 60_000
  if (minutes > 59 || ms > MAX_OFFSET_MS) return Result.fail(`no zone has the offset ${offset}`)
  return Result.succeed(offset.startsWith("-") ? asUtc + ms : asUtc - ms)
}

const inZone = (parts: Parts, name: string, text: string): Result.Result<number, string> => {
  const timeZone = Option.getOrUndefined(DateTime.zoneMakeNamed(name))
  if (timeZone === undefined) return Result.fail(`no time zone has the name ${name}: write one such as Europe/Berlin`)
  const at = (disambiguation: DateTime.Disambiguation) =>
    Option.getOrUndefined(DateTime.makeZoned(parts, { timeZone, adjustForTimeZone: true, disambiguation }))
  const [only, earlier, later] = [at("reject"), at("earlier"), at("later")]
  if (only !== undefined) return Result.succeed(DateTime.toEpochMillis(only))
  if (earlier === undefined || later === undefined) return Result.fail(TIME_FORM)
  const local = text.slice(0, text.indexOf("["))
  const [first, second] = [DateTime.formatIsoOffset(earlier), DateTime.formatIsoOffset(later)]
  const isRepeated = first.slice(0, LOCAL_LENGTH) === second.slice(0, LOCAL_LENGTH)
  return Result.fail(
    isRepeated
      ? `${name} has ${local} twice, as its clocks go back: write ${first} or ${second}`
      : `${name} has no ${local}, as its clocks go forward: write ${second} or an earlier time`
  )
}

/** Characters of a date and a time to the millisecond. */
const LOCAL_LENGTH = "2026-12-24T18:00:00.000".length
