import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { clockOf, ownClockOf } from "../../../src/view/live/Clock.ts"
import { offsetOf, sawTime, serverOffset, serviceNow } from "../../../src/view/live/ServerClock.ts"

const HOUR = 3_600_000
const NOW = Date.UTC(2026, 10, 29, 12)
const dateAt = (at: number) => new Date(at).toUTCString()
/** An answer that took some milliseconds, from a service whose clock is ahead. */
const answer = (ahead: number, trip = 40) => ({ date: dateAt(NOW + ahead), begunAt: NOW - trip, endedAt: NOW })

describe("the clock of the service", () => {
  it("is that of this computer while they agree to some seconds", () => {
    for (const ahead of [-4_000, -1_000, 0, 1_000, 4_000]) assert.strictEqual(offsetOf(answer(ahead), 0), 0)
    assert.strictEqual(offsetOf(answer(0), HOUR), 0)
  })

  it.each([HOUR, -HOUR, 30_000])("is %d ms ahead, by whole seconds and steady from answer to answer", (ahead) => {
    const first = offsetOf(answer(ahead), 0)
    assert.closeTo(first, ahead, 1_000)
    assert.strictEqual(offsetOf(answer(ahead + 1_000), first), first)
    assert.closeTo(offsetOf(answer(ahead + 60_000), first), ahead + 60_000, 1_000)
  })

  it("is not known from an answer without a time, from a slow one, or across a change of this clock", () => {
    assert.strictEqual(offsetOf({ ...answer(HOUR), date: "" }, 7_000), 7_000)
    assert.strictEqual(offsetOf(answer(HOUR, 10_000), 0), 0)
    assert.strictEqual(offsetOf(answer(HOUR, -10), 0), 0)
  })
})

describe("ages on a computer whose clock is an hour behind", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
  })
  afterEach(() => {
    serverOffset.set(0)
    vi.useRealTimers()
  })

  it("are by the clock of the service at once, and those of the page by its own", () => {
    const clock = clockOf(60_000)
    const own = ownClockOf(60_000)
    const leaves = [clock, own].map(({ subscribe }) => subscribe(() => {}))
    sawTime(answer(HOUR))
    assert.closeTo(clock.get(), NOW + HOUR, 1_000)
    assert.strictEqual(clock.get(), serviceNow())
    assert.strictEqual(own.get(), NOW)
    for (const leave of leaves) leave()
  })
})
