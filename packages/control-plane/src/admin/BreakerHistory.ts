import { type CircuitHistoryQuery, parseIsoDate } from "@runplane/api"
import type { CircuitTransition } from "@runplane/runtime"

const MS_PER_HOUR = 3_600_000
const WINDOW_MS: ReadonlyMap<string, number> = new Map([
  ["1h", MS_PER_HOUR],
  ["6h", 6 * MS_PER_HOUR],
  ["24h", 24 * MS_PER_HOUR],
  ["7d", 7 * 24 * MS_PER_HOUR]
])

/**
 * The first moment that the query asks for, Unix milliseconds; everything when it names none
 * (docs/http.md#breaker-history).
 */
const startOf = ({ since, window }: CircuitHistoryQuery, now: number): number => {
  if (since !== undefined) return Date.parse(parseIsoDate(since) ?? "")
  const length = window === undefined ? undefined : WINDOW_MS.get(window)
  return length === undefined ? Number.NEGATIVE_INFINITY : now - length
}

/** The entries of the breaker's history that a query asks for, as they are served. `now` in Unix milliseconds. */
export const selectHistory = (history: ReadonlyArray<CircuitTransition>, query: CircuitHistoryQuery, now: number) => {
  const start = startOf(query, now)
  return history
    .filter(({ enteredAt }) => Number.isNaN(start) || enteredAt >= start)
    .map(({ enteredAt, reason, state }) => ({ state, enteredAt: new Date(enteredAt).toISOString(), reason }))
}
