import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { beginCall, connection, PENDING_MS, sawAnswer, sawDatabase, sawStream } from "../../src/client/Connection.ts"

const state = () => connection.get().state

describe("the connection", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    sawAnswer(true)
    sawDatabase(true)
    sawStream(undefined)
    vi.useRealTimers()
  })

  it("waits when a call has no answer for some seconds, until the last such call has ended", () => {
    const begunAt = Date.now()
    const endFirst = beginCall()
    vi.advanceTimersByTime(PENDING_MS - 1)
    assert.strictEqual(state(), "polling")
    const endSecond = beginCall()
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(connection.get(), { state: "waiting", since: begunAt })
    vi.advanceTimersByTime(PENDING_MS)
    endFirst()
    assert.deepStrictEqual(connection.get(), { state: "waiting", since: begunAt + PENDING_MS - 1 })
    endSecond()
    assert.strictEqual(state(), "polling")
  })

  it("does not wait for a call that was answered in time", () => {
    beginCall()()
    vi.advanceTimersByTime(2 * PENDING_MS)
    assert.strictEqual(state(), "polling")
  })

  it.each(["live", "complete"] as const)("is not %s while the database is away or a call waits", (stream) => {
    sawStream({ state: stream, complete: 7 })
    assert.strictEqual(state(), stream)
    sawDatabase(false)
    assert.strictEqual(state(), "no-database")
    const end = beginCall()
    vi.advanceTimersByTime(PENDING_MS)
    assert.strictEqual(state(), "waiting")
    end()
    sawDatabase(true)
    assert.strictEqual(state(), stream)
  })

  it("knows nothing of the database of a service that does not answer", () => {
    sawDatabase(false)
    sawAnswer(false)
    assert.strictEqual(state(), "unreachable")
    sawStream({ state: "reconnecting", since: 0 })
    assert.strictEqual(state(), "reconnecting")
  })
})
