import { readParams, textParam, type ValuesOf, wordParam, writeParams } from "./UrlState.ts"

/** The filter of pages with many runs; the sidebar sets it, and links keep it. */
export const scopeParams = {
  environment: textParam,
  /** The time range up to now; empty: the default of the page. */
  window: wordParam(["", "1h", "6h", "24h", "7d", "30d"])
}
export type Scope = ValuesOf<typeof scopeParams>

/** Environment and time of an address, for links to other pages. */
export const carried = (search: string): string => writeParams(scopeParams, "", readParams(scopeParams, search))

/** The time ranges with their titles. */
export const WINDOWS = [
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"]
] as const

const HOUR = 3_600_000
export const spanMs: Readonly<Record<Exclude<Scope["window"], "">, number>> = {
  "1h": HOUR,
  "6h": 6 * HOUR,
  "24h": 24 * HOUR,
  "7d": 7 * 24 * HOUR,
  "30d": 30 * 24 * HOUR
}
