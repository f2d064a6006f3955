import { assert, describe, it } from "@effect/vitest"
import { FaultPlan } from "../../src/faults/FaultPlan.ts"

const vote = { stream: "session", sessionId: "s1", messageType: "Vote" } as const
const untouched = { copies: 1, delayMs: 0, extraBytes: 0 }

describe("a plan of faults", () => {
  it("is empty until a fault is added and after it is removed", () => {
    const plan = new FaultPlan()
    assert.isTrue(plan.isEmpty)
    const id = plan.add({ kind: "drop" })
    assert.isFalse(plan.isEmpty)
    assert.isTrue(plan.remove(id))
    assert.isFalse(plan.remove(id))
    assert.isTrue(plan.isEmpty)
  })

  it("hits only frames of its stream, session and message type", () => {
    const plan = new FaultPlan()
    plan.add({ kind: "drop", sessionId: "s1", messageType: "Vote" })
    assert.strictEqual(plan.treat(vote).copies, 0)
    assert.deepStrictEqual(plan.treat({ ...vote, messageType: "Proposal" }), untouched)
    assert.deepStrictEqual(plan.treat({ ...vote, sessionId: "s2" }), untouched)
    assert.deepStrictEqual(plan.treat({ ...vote, stream: "signals" }), untouched)
  })

  it("takes all faults that hit a frame together", () => {
    const plan = new FaultPlan()
    plan.add({ kind: "duplicate" })
    plan.add({ kind: "delay", delayMs: 20 })
    plan.add({ kind: "delay", delayMs: 5 })
    plan.add({ kind: "oversize", bytes: 100 })
    assert.deepStrictEqual(plan.treat(vote), { copies: 2, delayMs: 25, extraBytes: 100 })
  })

  it("is spent after the given number of times, and counts its effects", () => {
    const plan = new FaultPlan()
    plan.add({ kind: "drop", times: 2 })
    plan.treat(vote)
    assert.strictEqual(plan.active[0]?.hits, 1)
    plan.treat(vote)
    assert.isTrue(plan.isEmpty)
    assert.deepStrictEqual(plan.treat(vote), untouched)
  })

  it("holds back only the Commitment when the resolution is to be known early", () => {
    const plan = new FaultPlan()
    plan.add({ kind: "resolve-early", delayMs: 50 })
    assert.strictEqual(plan.treat({ ...vote, messageType: "Commitment" }).delayMs, 50)
    assert.deepStrictEqual(plan.treat(vote), untouched)
  })

  it("cuts a stream once it has delivered enough", () => {
    const plan = new FaultPlan()
    plan.add({ kind: "cut", afterFrames: 2, status: "aborted", times: 1 })
    assert.isUndefined(plan.cutOf("session", "s1", 1))
    assert.isUndefined(plan.cutOf("lifecycle", "", 2))
    assert.strictEqual(plan.cutOf("session", "s1", 2), "aborted")
    assert.isUndefined(plan.cutOf("session", "s1", 3))
  })

  it("refuses subscriptions of its session", () => {
    const plan = new FaultPlan()
    plan.add({ kind: "refuse", sessionId: "s1" })
    assert.strictEqual(plan.refusalOf("session", "s1"), "unavailable")
    assert.isUndefined(plan.refusalOf("session", "s2"))
    assert.isUndefined(plan.refusalOf("signals", "s1"))
  })

  it("notifies idle streams of a new fault until they stop listening", () => {
    const plan = new FaultPlan()
    let notices = 0
    const stop = plan.listen(() => {
      notices += 1
    })
    plan.add({ kind: "drop" })
    stop()
    plan.add({ kind: "drop" })
    assert.strictEqual(notices, 1)
  })
})
