import { assert, describe, it } from "@effect/vitest"
import type { CircuitTransition } from "@runplane/runtime"
import { selectHistory } from "../../src/admin/AdminHttp.ts"

const HOUR = 3_600_000
const now = Date.parse("2026-07-08T12:00:00.000Z")
const hoursAgo = (hours: number): CircuitTransition => ({
  state: "CLOSED",
  enteredAt: now - hours * HOUR,
  reason: `${hours}`
})
const history = [hoursAgo(200), hoursAgo(100), hoursAgo(20), hoursAgo(5), hoursAgo(0.5)]

describe("the history of the circuit breaker", () => {
  // docs/reference/admin.md#breaker-history
  for (const [what, query, hours] of [
    ["everything without a filter", {}, [200, 100, 20, 5, 0.5]],
    ["the last hour", { window: "1h" }, [0.5]],
    ["the last six hours", { window: "6h" }, [5, 0.5]],
    ["the last day", { window: "24h" }, [20, 5, 0.5]],
    ["the last week", { window: "7d" }, [100, 20, 5, 0.5]],
    ["everything for a window that is not known", { window: "15m" }, [200, 100, 20, 5, 0.5]],
    ["the entries since a time, that time included", { since: "2026-07-08T07:00:00Z" }, [5, 0.5]],
    ["the entries since a date, whatever the window", { since: "2026-07-04", window: "1h" }, [100, 20, 5, 0.5]],
    ["everything for a since that is not a date", { since: "yesterday", window: "1h" }, [200, 100, 20, 5, 0.5]]
  ] as const) {
    it(`holds ${what}, oldest first`, () => {
      assert.deepStrictEqual(
        selectHistory(history, query, now).map(({ reason }) => Number(reason)),
        [...hours]
      )
    })
  }

  it("shows times as ISO text", () => {
    assert.deepStrictEqual(selectHistory([hoursAgo(1)], {}, now), [
      { state: "CLOSED", enteredAt: "2026-07-08T11:00:00.000Z", reason: "1" }
    ])
  })
})
