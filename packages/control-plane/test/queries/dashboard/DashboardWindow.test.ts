import { assert, describe, it } from "@effect/vitest"
import type { DashboardQuery } from "@runplane/api"
import { type DashboardWindow, dashboardWindow, windowOf } from "../../../src/queries/dashboard/WindowParts.ts"

const now = Date.parse("2026-07-31T12:30:00.000Z")
const day = "2026-07-30T12:30:00.000Z"

// docs/reference/search.md#dashboard-window
const rows: ReadonlyArray<readonly [DashboardQuery, Omit<DashboardWindow, "parts"> | undefined]> = [
  [{}, { from: day, to: undefined, bucket: "hour" }],
  [{ window: "1h" }, { from: "2026-07-31T11:30:00.000Z", to: undefined, bucket: "minute" }],
  [{ window: "6h" }, { from: "2026-07-31T06:30:00.000Z", to: undefined, bucket: "minute" }],
  [{ window: "24h" }, { from: day, to: undefined, bucket: "hour" }],
  [{ window: "7d" }, { from: "2026-07-24T12:30:00.000Z", to: undefined, bucket: "day" }],
  [{ window: "30d" }, { from: "2026-07-01T12:30:00.000Z", to: undefined, bucket: "day" }],
  [{ range: "7d" }, { from: "2026-07-24T12:30:00.000Z", to: undefined, bucket: "day" }],
  [
    { range: "7d", window: "24h" },
    { from: day, to: undefined, bucket: "hour" }
  ],
  [{ to: "2026-07-01T00:00:00.000Z" }, { from: day, to: undefined, bucket: "hour" }],
  [
    { from: day, window: "1h", range: "7d" },
    { from: day, to: undefined, bucket: "hour" }
  ],
  [
    { from: day, to: "2026-07-30T18:30:00.000Z" },
    { from: day, to: "2026-07-30T18:30:00.000Z", bucket: "minute" }
  ],
  [
    { from: day, to: "2026-07-30T18:30:00.001Z" },
    { from: day, to: "2026-07-30T18:30:00.001Z", bucket: "hour" }
  ],
  [
    { from: day, to: "2026-08-01T12:30:00.000Z" },
    { from: day, to: "2026-08-01T12:30:00.000Z", bucket: "hour" }
  ],
  [
    { from: day, to: "2026-08-01T12:30:00.001Z" },
    { from: day, to: "2026-08-01T12:30:00.001Z", bucket: "day" }
  ],
  [{ from: day, to: day }, undefined],
  [{ from: day, to: "2026-07-30T12:29:59.999Z" }, undefined]
]

describe("the window of an overview", () => {
  for (const [query, expected] of rows) {
    it(`of ${JSON.stringify(query)} is ${expected === undefined ? "none" : `by ${expected.bucket}`}`, () => {
      assert.deepStrictEqual(dashboardWindow(query, now), expected && windowOf(expected, expected.bucket, now))
    })
  }
})
