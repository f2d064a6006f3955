import { assert, describe, it } from "@effect/vitest"
import type { OverviewRows } from "../../../src/queries/dashboard/DashboardRepository.ts"
import { kpisOf } from "../../../src/queries/dashboard/Overview.ts"

const none = { runs: 1, waiting: 0, running: 0, suspended: 0, completed: 1, failed: 0, cancelled: 0, declined: 0 }

const costing = (costs: ReadonlyArray<number>, guesses: ReadonlyArray<number> = []): OverviewRows => ({
  created: costs.map((cost, hour) => ({
    ...none,
    at: new Date(Date.UTC(2026, 6, 1, hour)),
    tokens: 0,
    cost,
    guessed: guesses[hour] ?? 0,
    duration: 0,
    timed: 0
  })),
  latencies: [],
  throughput: [],
  signals: [],
  decisions: [],
  errors: [],
  scenarios: [],
  otherScenarios: undefined,
  recent: []
})

describe("the cost of the runs in a window", () => {
  it.each<[costs: ReadonlyArray<number>, rounded: number, exact: number]>([
    [[0.1, 0.2], 0.3, 0.3],
    [[0.000_4, 0.000_000_1], 0, 0.000_400_1],
    [[1, 0.005], 1.01, 1.005],
    [[], 0, 0]
  ])("of %j is %d with two decimals, and exactly %d", (costs, rounded, exact) => {
    const { totalCostUsd, totalCostUsdExact } = kpisOf(costing(costs))
    assert.deepStrictEqual([totalCostUsd, totalCostUsdExact], [rounded, exact])
  })

  it("has the part that is a guess, and omits it at 0", () => {
    assert.strictEqual(kpisOf(costing([1, 1, 1], [0.1, 0.2])).guessedCostUsd, 0.3)
    assert.notProperty(kpisOf(costing([1, 1])), "guessedCostUsd")
  })
})
