import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { clockOf } from "../../../src/view/live/Clock.ts"

const EVERY_MS = 1_000

describe("the clock that parts of a page share", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it("ticks for all listeners, and stops with the last one", () => {
    const clock = clockOf(EVERY_MS)
    assert.strictEqual(clockOf(EVERY_MS), clock)
    const notified: Array<string> = []
    const leaves = ["one", "other"].map((name) => clock.subscribe(() => notified.push(name)))
    assert.strictEqual(vi.getTimerCount(), 1)
    vi.advanceTimersByTime(EVERY_MS)
    assert.deepStrictEqual(notified, ["one", "other"])
    leaves[0]?.()
    vi.advanceTimersByTime(EVERY_MS)
    assert.deepStrictEqual(notified, ["one", "other", "other"])
    leaves[1]?.()
    assert.strictEqual(vi.getTimerCount(), 0)
  })

  it("has a time that is at most one interval old, also after a time without listeners", () => {
    const clock = clockOf(EVERY_MS)
    const leave = clock.subscribe(() => undefined)
    for (let passed = 0; passed < 10; passed++) {
      vi.advanceTimersByTime(270)
      assert.isBelow(Date.now() - clock.get(), EVERY_MS)
    }
    leave()
    vi.advanceTimersByTime(60 * EVERY_MS)
    assert.strictEqual(clock.get(), Date.now())
    // The same until it ticks: React reads it several times while it draws.
    vi.advanceTimersByTime(EVERY_MS / 2)
    assert.strictEqual(clock.get(), clock.get())
  })
})
