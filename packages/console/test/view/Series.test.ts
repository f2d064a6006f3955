import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { distinctLabels, roundTicks, spacedTicks } from "../../src/view/Axis.ts"
import { laneDensity } from "../../src/view/Lanes.ts"
import { rowsInView } from "../../src/view/Rows.ts"
import { bucketMs, bucketsOf, changeOf, fromFirstData, overBuckets } from "../../src/view/Series.ts"

const HOUR = 3_600_000
const START = Date.parse("2026-07-01T10:00:00.000Z")

describe("series over time", () => {
  it("has the buckets that the service has", () => {
    const span = (hours: number) => ({ from: START, to: START + hours * HOUR })
    assert.strictEqual(bucketMs(span(6), true), 60_000)
    assert.strictEqual(bucketMs(span(24), false), HOUR)
    assert.strictEqual(bucketMs(span(48), true), HOUR)
    assert.strictEqual(bucketMs(span(48), false), 24 * HOUR)
    assert.deepStrictEqual(bucketsOf({ from: START + 1, to: START + 2 * HOUR }, HOUR), [START, START + HOUR])
  })

  it("fills what the service leaves out, and never moves a value", () => {
    const chart = { labels: [new Date(START + HOUR).toISOString()], data: [7] }
    const buckets = bucketsOf({ from: START, to: START + 3 * HOUR }, HOUR)
    assert.deepStrictEqual(overBuckets(chart, buckets, 0), [0, 7, 0])
    assert.deepStrictEqual(overBuckets(chart, buckets, null), [null, 7, null])
  })

  it("begins at the first data of the window, with a few buckets at least", () => {
    const buckets = bucketsOf({ from: START, to: START + 100 * HOUR }, HOUR)
    const from = (hour: number) => ({ labels: [new Date(START + hour * HOUR).toISOString()] })
    assert.strictEqual(fromFirstData(buckets, [from(60), from(40)])[0], START + 40 * HOUR)
    assert.lengthOf(fromFirstData(buckets, [from(99)]), 12)
    assert.deepStrictEqual(fromFirstData(buckets, []), buckets.slice(-12))
    assert.deepStrictEqual(fromFirstData(buckets.slice(0, 3), [from(2)]), buckets.slice(0, 3))
  })

  it("compares with the time before, where there is something to compare with", () => {
    assert.strictEqual(changeOf(3, 2), 0.5)
    assert.strictEqual(changeOf(0, 2), -1)
    assert.isUndefined(changeOf(3, 0))
    assert.isUndefined(changeOf(undefined, 2))
    assert.isUndefined(changeOf(3, null))
  })
})

describe("rows in view", () => {
  it("are those between the edges and a few beyond, within the list", () => {
    assert.deepStrictEqual(rowsInView(0, 400, 40, 1_000, 2), { first: 0, last: 12 })
    assert.deepStrictEqual(rowsInView(4_000, 400, 40, 1_000, 2), { first: 98, last: 112 })
    assert.deepStrictEqual(rowsInView(40_000, 400, 40, 20, 2), { first: 20, last: 20 })
    assert.deepStrictEqual(rowsInView(0, 400, 40, 0, 2), { first: 0, last: 0 })
  })
})

describe("an axis", () => {
  it("repeats no label: another form, or none", () => {
    const minute = (ms: number) => `${Math.round(ms / 60_000)} min`
    assert.deepStrictEqual(distinctLabels([60_000, 61_000, 62_000], [minute, () => "more"]), ["1 min", "more", ""])
  })

  it.prop(
    "has round ticks from 0 to at most the largest value",
    [Schema.Finite.check(Schema.isBetween({ minimum: 1e-9, maximum: 1e15 }))],
    ([most]) => {
      const ticks = roundTicks(most, 4)
      assert.strictEqual(ticks[0], 0)
      assert.isAtMost(ticks.length, 5)
      assert.isAtMost(ticks.at(-1) ?? 0, most * 1.000001)
    }
  )

  it("has ticks with space between them, in the order of their positions", () => {
    assert.deepStrictEqual(spacedTicks([0.5, 0, 0.05, 1], 0.1), [1, 0, 3])
  })

  it("counts the events of each lane and part, and none of other lanes", () => {
    const counts = laneDensity([0, 1, 0, undefined], [0, 1, 0.1, 0.5], 2)
    assert.deepStrictEqual(
      [...counts],
      [
        [0, [2, 0]],
        [1, [0, 1]]
      ]
    )
  })
})
