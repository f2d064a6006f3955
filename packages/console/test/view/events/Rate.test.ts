import { assert, describe, it } from "@effect/vitest"
import { rateOf } from "../../../src/view/events/Rate.ts"

describe("the rate of events", () => {
  it("counts each event once", () => {
    const { at, bucketMs, counts } = rateOf([0, 500, 1_000, 59_999], { from: 0, to: 60_000 })
    assert.strictEqual(bucketMs, 1_000)
    assert.lengthOf(at, 60)
    assert.deepStrictEqual([counts[0], counts[1], counts[59]], [2, 1, 1])
  })
})
