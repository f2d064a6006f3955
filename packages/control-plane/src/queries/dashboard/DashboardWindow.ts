import type { DashboardQuery } from "@runplane/api"
import { type Bucket, partsOf, type Span, type WindowParts } from "./WindowParts.ts"

/** The time that an overview looks at, and the buckets of its charts. */
export interface DashboardWindow extends Span {
  readonly bucket: Bucket
  readonly parts: WindowParts
}

const HOUR_MS = 3_600_000

const WINDOWS = {
  "1h": { length: HOUR_MS, bucket: "minute" },
  "6h": { length: 6 * HOUR_MS, bucket: "minute" },
  "24h": { length: 24 * HOUR_MS, bucket: "hour" },
  "7d": { length: 7 * 24 * HOUR_MS, bucket: "day" },
  "30d": { length: 30 * 24 * HOUR_MS, bucket: "day" }
} as const

/**
 * The window of a query (docs/reference/http.md#dashboard-window): from (with to) over window over
 * range over 24h. `now` in milliseconds. Undefined when `to` is not after `from`.
 */
export const dashboardWindow = (query: DashboardQuery, now: number): DashboardWindow | undefined => {
  if (query.from === undefined) {
    const { bucket, length } = WINDOWS[query.window ?? query.range ?? "24h"]
    return windowOf({ from: new Date(now - length).toISOString(), to: undefined }, bucket, now)
  }
  const end = query.to === undefined ? now : Date.parse(query.to)
  const length = end - Date.parse(query.from)
  if (query.to !== undefined && length <= 0) return undefined
  return windowOf({ from: query.from, to: query.to }, bucketOf(length), now)
}

export const windowOf = (span: Span, bucket: Bucket, now: number): DashboardWindow => ({
  ...span,
  bucket,
  parts: partsOf(span, bucket, now)
})

const bucketOf = (length: number): Bucket => {
  if (length <= 6 * HOUR_MS) return "minute"
  return length <= 48 * HOUR_MS ? "hour" : "day"
}
