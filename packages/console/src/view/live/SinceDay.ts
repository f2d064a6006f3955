import { serviceNow } from "./ServerClock.ts"

const DAY_MS = 86_400_000

/**
 * The time that `7d` or `all` begins at, by the clock of the service; undefined for all. It is the start of a day, so
 * that a repeated read has the same address.
 */
export const sinceDay = (since: string): string | undefined =>
  since === "all"
    ? undefined
    : new Date(Math.floor(serviceNow() / DAY_MS - Number.parseInt(since, 10)) * DAY_MS).toISOString()
