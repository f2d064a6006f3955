import type { QueryValue } from "./Query.ts"

const FORM = /^now(?:([+-])(\d{1,10})([smhdw]))?$/

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const
const isUnit = (unit: string): unit is keyof typeof SECONDS => Object.hasOwn(SECONDS, unit)

/** A century: a database has no times thousands of years ago. */
const MOST_SECONDS = 36_525 * SECONDS.d

/**
 * The seconds from the time of the search to a relative time: `now`, `now-90m`, `now-7d`, `now+1h`. Undefined for any
 * other value. A query keeps the text, so a saved search is relative to the time at which it runs.
 */
export const relativeSeconds = (value: QueryValue): number | undefined => {
  const read = FORM.exec(String(value))
  if (read === null) return undefined
  const [, sign, count = "0", unit = "s"] = read
  if (!isUnit(unit)) return undefined
  const seconds = Number(count) * SECONDS[unit] * (sign === "-" ? -1 : 1)
  return Math.abs(seconds) <= MOST_SECONDS ? seconds : undefined
}
