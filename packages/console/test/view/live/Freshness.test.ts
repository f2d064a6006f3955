import { assert, describe, it } from "@effect/vitest"
import { oldestOf, type PolledRead } from "../../../src/view/live/Freshness.ts"

const NOW = 1_000_000
const read = (patch: Partial<PolledRead>): PolledRead => ({
  readAt: NOW - 1_000,
  failures: 0,
  everyMs: 5_000,
  ...patch
})

describe("oldestOf", () => {
  it("given reads that were refreshed in time, then nothing is old", () => {
    assert.isUndefined(oldestOf([], NOW))
    assert.isUndefined(oldestOf([read({}), read({ failures: 1 }), read({ readAt: NOW - 20_000 })], NOW))
  })

  it("given failing reads, then the oldest of their data counts", () => {
    const reads = [read({ readAt: NOW - 60_000, everyMs: undefined }), read({ failures: 2, readAt: NOW - 9_000 })]
    assert.strictEqual(oldestOf([...reads, read({ failures: 3, readAt: NOW - 4_000 })], NOW), NOW - 9_000)
  })

  it("given a failing read without data, then its age is unknown", () => {
    assert.strictEqual(oldestOf([read({ failures: 2, readAt: 0 }), read({ failures: 2 })], NOW), 0)
  })

  it("given a poll without an answer for several intervals, then its data are old", () => {
    assert.strictEqual(oldestOf([read({ readAt: NOW - 20_001 })], NOW), NOW - 20_001)
    assert.isUndefined(oldestOf([read({ readAt: 0 })], NOW))
  })

  it("given a read without polls, then its age does not count", () => {
    assert.isUndefined(oldestOf([read({ readAt: 1, everyMs: undefined })], NOW))
  })
})
