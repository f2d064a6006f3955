import { assert, describe, it } from "@effect/vitest"
import { timeLeftOf } from "../../../src/view/run/TimeLeft.ts"
import { eventsOf, type Given } from "../../support.ts"

const START = Date.parse("2026-07-01T10:00:00.000Z")
const run = { metadata: { executionRequest: { session: { ttlMs: 60_000 } } } }
const opens = (ttlMs?: number): Given => ({
  type: "message.received",
  after: 1_000,
  data: { messageType: "SessionStart", sender: "lead", payload: { ...(ttlMs !== undefined && { ttlMs }) } }
})
const state = (name: string, after: number, expiresAtUnixMs?: number): Given => ({
  type: "session.state.changed",
  after,
  data: { state: name, ...(expiresAtUnixMs !== undefined && { expiresAtUnixMs }) }
})
const left = (given: ReadonlyArray<Given>, after: number, of: Parameters<typeof timeLeftOf>[1] = run) =>
  timeLeftOf(eventsOf(given), of, START + after)

describe("the time that a session has left", () => {
  it("given no report of a deadline, then it is the lifetime since the start", () => {
    assert.deepStrictEqual(left([opens(30_000)], 11_000), { ms: 20_000, isPaused: false })
    assert.deepStrictEqual(left([opens()], 11_000), { ms: 50_000, isPaused: false })
    assert.deepStrictEqual(left([opens(30_000)], 100_000), { ms: 0, isPaused: false })
  })

  it("given suspensions, then they do not count, and it stops during one", () => {
    const first = [opens(30_000), { type: "run.suspended", after: 6_000 }]
    assert.deepStrictEqual(left(first, 90_000), { ms: 25_000, isPaused: true })
    const resumed = [...first, state("OPEN", 100_000), { type: "run.resumed", after: 100_001 }]
    assert.deepStrictEqual(left(resumed, 105_000), { ms: 20_000, isPaused: false })
  })

  it("given a reported deadline, then it counts, with the suspensions after the report", () => {
    const reported = [opens(1_000), state("OPEN", 2_000, START + 50_000)]
    assert.deepStrictEqual(left(reported, 10_000), { ms: 40_000, isPaused: false })
    const paused = [...reported, state("SUSPENDED", 20_000), state("OPEN", 30_000)]
    assert.deepStrictEqual(left(paused, 40_000), { ms: 20_000, isPaused: false })
    const extended = [...paused, state("OPEN", 31_000, START + 60_000)]
    assert.deepStrictEqual(left(extended, 40_000), { ms: 20_000, isPaused: false })
  })

  it("given neither a lifetime nor a start, then it is unknown", () => {
    assert.isUndefined(left([], 1_000))
    assert.isUndefined(left([opens()], 1_000, { metadata: {} }))
    assert.deepStrictEqual(left([], 11_000, { ...run, startedAt: new Date(START).toISOString() }), {
      ms: 49_000,
      isPaused: false
    })
  })
})
