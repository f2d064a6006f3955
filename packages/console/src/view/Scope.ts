import { textParam, type ValuesOf, wordParam } from "./UrlState.ts"

/** What every page of the fleet is narrowed to; the sidebar sets it, and its links carry it on. */
export const scopeParams = {
  environment: textParam,
  /** Up to now; empty: what the page takes by itself. */
  window: wordParam(["", "1h", "6h", "24h", "7d", "30d"])
}
export type Scope = ValuesOf<typeof scopeParams>

const HOUR = 3_600_000
export const spanMs: Readonly<Record<Exclude<Scope["window"], "">, number>> = {
  "1h": HOUR,
  "6h": 6 * HOUR,
  "24h": 24 * HOUR,
  "7d": 7 * 24 * HOUR,
  "30d": 30 * 24 * HOUR
}
