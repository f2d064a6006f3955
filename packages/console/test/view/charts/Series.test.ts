import { assert, describe, it } from "@effect/vitest"
import { bucketMs, bucketsOf, changeOf, fromFirstData, overBuckets } from "../../../src/view/charts/Series.ts"

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
