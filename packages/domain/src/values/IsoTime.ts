/** Unix milliseconds as ISO-8601 text in UTC. */
export const isoTime = (unixMs: number): string => new Date(unixMs).toISOString()

/** The same of a value for SQL; null for none. */
export const isoTimeOrNull = (unixMs: number | undefined): string | null =>
  unixMs === undefined ? null : isoTime(unixMs)

const MINUTE = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):.*Z$/

/** A time to the minute, for people: `2026-11-30 10:04 UTC`. Any other text stays as it is. */
export const minuteText = (time: string): string => time.replace(MINUTE, "$1 $2 UTC")
