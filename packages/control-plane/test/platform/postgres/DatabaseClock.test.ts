import { assert, describe, it } from "@effect/vitest"
import { nextOffset } from "../../../src/platform/postgres/DatabaseClock.ts"

describe("the offset of the database's clock", () => {
  it("stays what it is while a sample allows it", () => {
    assert.strictEqual(nextOffset(0, { before: 1_000, database: 1_004.5, after: 1_010 }), 0)
    assert.strictEqual(nextOffset(7, { before: 1_000, database: 1_007, after: 1_000 }), 7)
    // A whole millisecond of the process may have just begun, or be nearly over.
    assert.strictEqual(nextOffset(0, { before: 1_000, database: 1_000.9, after: 1_000 }), 0)
  })

  it("becomes the next one that the sample allows", () => {
    assert.strictEqual(nextOffset(0, { before: 1_000, database: 61_000, after: 1_010 }), 59_989)
    assert.strictEqual(nextOffset(0, { before: 61_000, database: 1_000, after: 61_010 }), -60_000)
  })

  it("comes closer with samples that took less time", () => {
    const far = nextOffset(0, { before: 0, database: 3_600_100, after: 200 })
    const near = nextOffset(far, { before: 1_000, database: 3_601_001, after: 1_002 })
    assert.isAtMost(Math.abs(near - 3_600_000), 2)
  })
})
