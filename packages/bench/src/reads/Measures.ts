/** One kind of read; `path` may differ from request to request. */
export interface Measure {
  readonly name: string
  readonly path: (request: number, runIds: ReadonlyArray<string>) => string
  /** Requests a second. */
  readonly aim?: number
  /** Milliseconds of the 99th percentile. */
  readonly aimP99?: number
}

const some = (request: number, runIds: ReadonlyArray<string>) => runIds[(request * 7_919) % runIds.length] ?? ""

/** What is read, and the aims for 2,000 runs of 20 envelopes and 16 connections. */
export const MEASURES: ReadonlyArray<Measure> = [
  { name: "GET /runs", path: () => "/runs", aim: 1_000 },
  { name: "GET /runs of a status, with offset", path: () => "/runs?status=completed&offset=500", aim: 1_000 },
  { name: "GET /runs, an empty page", path: () => "/runs?status=failed" },
  { name: "GET /runs/:id", path: (request, runIds) => `/runs/${some(request, runIds)}` },
  { name: "GET /runs/:id/state", path: (request, runIds) => `/runs/${some(request, runIds)}/state`, aim: 3_000 },
  { name: "GET /runs/:id/events", path: (request, runIds) => `/runs/${some(request, runIds)}/events` },
  { name: "GET /events of a type", path: () => "/events?type=message.received&limit=50", aim: 1_000 },
  { name: "GET /events, the last page", path: () => "/events?afterSeq=999999999&limit=50" },
  { name: "GET /dashboard/overview", path: () => "/dashboard/overview", aim: 500, aimP99: 50 },
  { name: "GET /dashboard/overview, 7 days", path: () => "/dashboard/overview?window=7d" },
  { name: "GET /dashboard/overview, 30 days", path: () => "/dashboard/overview?window=30d" }
]
