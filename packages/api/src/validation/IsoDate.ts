const HOUR = "[01][0-9]|2[0-3]"
const MINUTE = "[0-5][0-9]"
const DATE = "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
const TIME = `(${HOUR}):(${MINUTE})(?::(${MINUTE})(?:[.,]([0-9]{1,9}))?)?`
const OFFSET = `[Zz]|[+-](?:${HOUR})(?::?${MINUTE})?`

/** A date or a date-time, but for the days that a month lacks. Documents show it, so it has no flags. */
export const DATE_OR_DATE_TIME = new RegExp(`^${DATE}(?:[Tt]${TIME}(${OFFSET})?)?$`)

const FIRST_YEAR = 1
const LAST_YEAR = 9999

/**
 * Reads an ISO 8601 date or date-time and gives it in the service's own form: UTC, milliseconds, `Z`. Without an offset
 * the time is UTC. Undefined for anything else, for dates that do not exist, and for instants outside the years 1 to
 * 9999, which the database would refuse.
 */
export const parseIsoDate = (text: string): string | undefined => {
  const match = DATE_OR_DATE_TIME.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", offset = "Z"] = match
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0")
  const local = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`)
  // A day that a month lacks is moved into the next month by the parser.
  if (Number.isNaN(local.getTime()) || local.getUTCDate() !== Number(day)) return undefined
  const instant = new Date(local.getTime() - offsetMinutes(offset) * 60_000)
  const instantYear = instant.getUTCFullYear()
  return instantYear >= FIRST_YEAR && instantYear <= LAST_YEAR ? instant.toISOString() : undefined
}

const offsetMinutes = (offset: string): number => {
  if (offset.toUpperCase() === "Z") return 0
  const digits = offset.slice(1).replace(":", "")
  return (offset.startsWith("-") ? -1 : 1) * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || "0"))
}
