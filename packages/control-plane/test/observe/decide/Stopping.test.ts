import { assert, describe, it } from "@effect/vitest"
import type { PendingCancel } from "../../../src/observe/decide/ObservedRun.ts"
import { answer, cancelled, check, failure, frames, identity, session, state, Trial } from "./support/Trial.ts"

const cancel: PendingCancel = { reason: "not needed", untilUnixMs: 300_000 }
const notFound = answer("opened", failure("NOT_FOUND"))

/** A run that was cancelled while it waited for its session. */
const stopping = () => {
  const trial = new Trial()
  trial.start()
  trial.receive(identity(), notFound)
  trial.status = "cancelled"
  trial.cancel = cancel
  assert.deepStrictEqual(trial.receive(check), ["query opened"])
  return trial
}

describe("a session that opens after its run was cancelled", () => {
  it("is cancelled when the watch reports it, with the caller's reason, once", () => {
    const trial = stopping()
    trial.receive(notFound)
    const opened = state(session("OPEN"))
    assert.deepStrictEqual(trial.receive(opened, opened, check), ["cancel session: not needed"])
    assert.deepStrictEqual(trial.receive(cancelled("CANCELLED")), ["session stopped", "finish"])
    assert.strictEqual(trial.status, "cancelled")
  })

  it("is cancelled when the runtime knows it, suspended or not", () => {
    for (const found of ["OPEN", "SUSPENDED"] as const) {
      const trial = stopping()
      assert.deepStrictEqual(trial.receive(answer("opened", session(found))), ["cancel session: not needed"])
    }
  })

  it("is cancelled when it was opened between the two", () => {
    const trial = new Trial()
    trial.start()
    trial.receive(identity())
    trial.status = "cancelled"
    trial.cancel = cancel
    assert.deepStrictEqual(trial.receive(state(session("OPEN"))), [
      "subscribe 1 after 0",
      "bind",
      "run",
      "cancel session: not needed"
    ])
    assert.deepStrictEqual(trial.receive(frames(1, "m1")), [])
  })

  it("is cancelled after a restart, without an event of the ended run", () => {
    const trial = new Trial({ status: "cancelled", cancel })
    assert.deepStrictEqual(trial.start(), ["query opened"])
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), ["cancel session: not needed"])
  })

  it("is left alone when it is over already", () => {
    assert.deepStrictEqual(stopping().receive(state(session("RESOLVED", 3))), ["cancel forgotten", "finish"])
    const trial = stopping()
    trial.receive(state(session("OPEN")))
    assert.deepStrictEqual(trial.receive(cancelled("EXPIRED")), ["cancel forgotten", "finish"])
  })

  it("is queried with longer pauses each time, until the time is over", () => {
    const trial = stopping()
    for (const pause of [100, 200, 400, 800, 1_600]) {
      trial.receive(notFound)
      assert.deepStrictEqual(trial.wait(pause - 1), [])
      assert.deepStrictEqual(trial.wait(1), ["query opened"])
    }
    while (!trial.isOver && trial.at < 400_000) {
      if (trial.isQuerying) trial.receive(notFound)
      trial.wait(1)
    }
    assert.closeTo(trial.at, 300_000, 1)
  })

  it("is cancelled again when the runtime was away, and given up when it refuses", () => {
    const trial = stopping()
    trial.receive(state(session("OPEN")))
    assert.deepStrictEqual(trial.receive(cancelled(failure("UNAVAILABLE"))), [])
    assert.deepStrictEqual(trial.wait(100), ["query opened"])
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), ["cancel session: not needed"])
    assert.deepStrictEqual(trial.receive(cancelled(failure("PERMISSION_DENIED"))), ["cancel forgotten", "finish"])
  })

  it("is cancelled although the service may not read it", () => {
    const asked = stopping().receive(answer("opened", failure("PERMISSION_DENIED")))
    assert.deepStrictEqual(asked, ["cancel session: not needed"])
  })
})
