import { assert, describe, it } from "@effect/vitest"
import { median, percentile, spreadOf } from "../src/Statistics.ts"

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe("percentiles", () => {
  it("name the smallest value that this share does not exceed", () => {
    assert.strictEqual(percentile(upTo(100), 0.5), 50)
    assert.strictEqual(percentile(upTo(100), 0.99), 99)
    assert.strictEqual(percentile(upTo(10), 0.99), 10)
    assert.strictEqual(percentile([7], 0.5), 7)
  })

  it("do not depend on the order of the values", () => {
    assert.deepStrictEqual(spreadOf([3, 1, 2].map((value) => value * 10)), {
      count: 3,
      p50: 20,
      p95: 30,
      p99: 30,
      max: 30
    })
  })

  it("of nothing are no numbers", () => {
    assert.isNaN(spreadOf([]).p99)
  })
})

describe("the median", () => {
  it("is the value in the middle, or the mean of the two in the middle", () => {
    assert.strictEqual(median([9, 1, 5]), 5)
    assert.strictEqual(median([9, 1, 5, 7]), 6)
  })
})
