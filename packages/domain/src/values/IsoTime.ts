/** Unix milliseconds as ISO-8601 text in UTC. */
export const isoTime = (unixMs: number): string => new Date(unixMs).toISOString()

/** The same of a value for SQL; null for none. */
export const isoTimeOrNull = (unixMs: number | undefined): string | null =>
  unixMs === undefined ? null : isoTime(unixMs)
