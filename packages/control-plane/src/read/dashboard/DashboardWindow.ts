import type { DashboardQuery } from "@runplane/api"

export type Bucket = "minute" | "hour" | "day"

/** The time that an overview looks at: `from` inclusive, `to` exclusive; without `to` it is open. ISO-8601. */
export interface DashboardWindow {
  readonly from: string
  readonly to: string | undefined
  readonly bucket: Bucket
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
 * The window of a query (docs/http.md#dashboard-window): from (with to) over window over
 * range over 24h. `now` in milliseconds. Undefined when `to` is not after `from`.
 */
export const dashboardWindow = (query: DashboardQuery, now: number): DashboardWindow | undefined => {
  if (query.from === undefined) {
    const { bucket, length } = WINDOWS[query.window ?? query.range ?? "24h"]
    return { from: new Date(now - length).toISOString(), to: undefined, bucket }
  }
  const end = query.to === undefined ? now : Date.parse(query.to)
  const length = end - Date.parse(query.from)
  if (query.to !== undefined && length <= 0) return undefined
  return { from: query.from, to: query.to, bucket: bucketOf(length) }
}

const bucketOf = (length: number): Bucket => {
  if (length <= 6 * HOUR_MS) return "minute"
  return length <= 48 * HOUR_MS ? "hour" : "day"
}

const BUCKET_MS = { minute: 60_000, hour: HOUR_MS, day: 24 * HOUR_MS } as const

/** The last moment that has a time in ISO-8601 with four digits of a year; PostgreSQL reads no other. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z")

/**
 * The whole buckets of a window: from the start of the first to the end of the last, which is open where the window is.
 * Both are the same where there is none, and the first is at `infinity` where it would begin after the year 9999; never
 * outside of the window.
 */
export const wholeBuckets = ({ bucket, from, to }: DashboardWindow): Pick<DashboardWindow, "from" | "to"> => {
  const length = BUCKET_MS[bucket]
  const end = to === undefined ? undefined : Math.floor(Date.parse(to) / length) * length
  const start = Math.ceil(Date.parse(from) / length) * length
  const iso = (ms: number) => new Date(ms).toISOString()
  if (end === undefined) return { from: start > LAST_MS ? "infinity" : iso(start), to: undefined }
  return end <= start ? { from: to ?? from, to: to ?? from } : { from: iso(start), to: iso(end) }
}
