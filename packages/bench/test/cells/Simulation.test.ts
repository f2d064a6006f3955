import { assert, describe, it } from "@effect/vitest"
import { chanceOf, poisson } from "../../src/cells/Chance.ts"
import { type CellCosts, MEASURED, TYPICAL } from "../../src/cells/Costs.ts"
import { cellOf, fewestCells, playDay, spreadOf } from "../../src/cells/Simulation.ts"

const traffic = (runsPerDay: number) => ({ ...TYPICAL, runsPerDay, runsOfRuntime: 1_000, mostRunsOfRuntime: 5_000 })

describe("a simulated day", () => {
  it("repeats for a seed, and has the runs of its load", () => {
    const day = playDay(traffic(50_000), MEASURED, 3, 7)
    assert.deepStrictEqual(playDay(traffic(50_000), MEASURED, 3, 7), day)
    assert.notDeepEqual(playDay(traffic(50_000), MEASURED, 3, 8), day)
    assert.closeTo(day.runs, 50_000, 1_000)
    assert.strictEqual(day.runtimes, 50)
    assert.isAbove(day.envelopes, 40 * day.runs)
    assert.isAtLeast(day.imbalance, 1)
  })

  it("costs as many cores as its runs and envelopes cost CPU", () => {
    const flat = { ...traffic(50_000), peak: 1 }
    const { busiestCpu, envelopes, runs } = playDay(flat, MEASURED, 1, 1)
    const average = (runs * MEASURED.cpuOfRun + envelopes * MEASURED.cpuOfEnvelope) / 86_400 / MEASURED.cores
    assert.isAtLeast(busiestCpu, average)
    assert.isBelow(busiestCpu, 2 * average)
    assert.isAbove(playDay(traffic(50_000), MEASURED, 1, 1).busiestCpu, 2 * average)
  })

  it("needs more cells for more runs, for smaller cells, and for a longer retention", () => {
    const small: CellCosts = { ...MEASURED, cores: 1, storage: 1e12 }
    const cellsOf = (runs: number, costs: CellCosts) => fewestCells(traffic(runs), costs, 1)
    const few = cellsOf(20_000, small)
    const many = cellsOf(400_000, small)
    assert.strictEqual(few.cells, 1)
    assert.isAbove(many.cells, few.cells)
    assert.isAtMost(many.busiestCpu, small.busiest)
    assert.isAtMost(many.stored, small.storage)
    // One fewer is too few: by the processor or by the disk.
    const fewer = playDay(traffic(400_000), small, many.cells - 1, 1)
    assert.isTrue(fewer.busiestCpu > small.busiest || fewer.stored > small.storage)
    assert.isBelow(cellsOf(400_000, { ...small, retentionDays: 3 }).cells, many.cells)
  })

  it("moves to a new cell only the runtimes of the new cell", () => {
    const runtimes = Array.from({ length: 2_000 }, (_, runtime) => runtime)
    const moved = runtimes.filter((runtime) => cellOf(runtime, 9) !== cellOf(runtime, 10))
    assert.isTrue(moved.every((runtime) => cellOf(runtime, 10) === 9))
    assert.closeTo(moved.length, 200, 60)
  })
})

describe("several cells", () => {
  it("make lists slower, and the loss of one smaller", () => {
    const one = spreadOf(playDay(traffic(20_000), MEASURED, 1, 1), MEASURED, 1)
    const twenty = spreadOf(playDay(traffic(20_000), MEASURED, 20, 1), MEASURED, 1)
    assert.closeTo(one.list99, MEASURED.list99, 0.003)
    assert.isAbove(twenty.list99, one.list99)
    assert.deepStrictEqual([one.unread, twenty.unread], [1, 1 / 20])
    assert.isNaN(one.moreElsewhere)
    assert.closeTo(twenty.moreElsewhere, 20 / 19, 1e-9)
  })
})

describe("arrivals", () => {
  it.each([0.5, 5, 500])("of a mean of %d have that mean", (mean) => {
    const chance = chanceOf(3)
    const count = 20_000
    let sum = 0
    for (let at = 0; at < count; at++) sum += poisson(mean, chance)
    assert.closeTo(sum / count, mean, 4 * Math.sqrt(mean / count))
  })
})
