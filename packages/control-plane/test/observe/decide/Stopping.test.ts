import { assert, describe, it } from "@effect/vitest"
import type { LateCancel } from "../../../src/observe/decide/ObservedRun.ts"
import { answer, cancelled, check, failure, frames, identity, session, state, Trial } from "./support/Trial.ts"

const cancel: LateCancel = { reason: "not needed", untilUnixMs: 300_000 }
const notFound = answer("opened", failure("NOT_FOUND"))

/** A run that was cancelled while it waited for its session. */
const stopping = () => {
  const trial = new Trial()
  trial.start()
  trial.hear(identity(), notFound)
  trial.status = "cancelled"
  trial.cancel = cancel
  assert.deepStrictEqual(trial.hear(check), ["ask opened"])
  return trial
}

describe("a session that opens after its run was cancelled", () => {
  it("is cancelled when the watch tells of it, with the caller's reason, once", () => {
    const trial = stopping()
    trial.hear(notFound)
    const opened = state(session("OPEN"))
    assert.deepStrictEqual(trial.hear(opened, opened, check), ["cancel session: not needed"])
    assert.deepStrictEqual(trial.hear(cancelled("CANCELLED")), ["session stopped", "finish"])
    assert.strictEqual(trial.status, "cancelled")
  })

  it("is cancelled when the runtime knows it, suspended or not", () => {
    for (const found of ["OPEN", "SUSPENDED"] as const) {
      const trial = stopping()
      assert.deepStrictEqual(trial.hear(answer("opened", session(found))), ["cancel session: not needed"])
    }
  })

  it("is cancelled when it was opened between the two", () => {
    const trial = new Trial()
    trial.start()
    trial.hear(identity())
    trial.status = "cancelled"
    trial.cancel = cancel
    assert.deepStrictEqual(trial.hear(state(session("OPEN"))), [
      "subscribe 1 after 0",
      "bind",
      "run",
      "cancel session: not needed"
    ])
    assert.deepStrictEqual(trial.hear(frames(1, "m1")), [])
  })

  it("is cancelled after a restart, of which the ended run tells nothing", () => {
    const trial = new Trial({ status: "cancelled", cancel })
    assert.deepStrictEqual(trial.start(), ["ask opened"])
    assert.deepStrictEqual(trial.hear(answer("opened", session("OPEN"))), ["cancel session: not needed"])
  })

  it("is left alone when it is over already", () => {
    assert.deepStrictEqual(stopping().hear(state(session("RESOLVED", 3))), ["cancel forgotten", "finish"])
    const trial = stopping()
    trial.hear(state(session("OPEN")))
    assert.deepStrictEqual(trial.hear(cancelled("EXPIRED")), ["cancel forgotten", "finish"])
  })

  it("is asked for again, longer each time, until the time is over", () => {
    const trial = stopping()
    for (const pause of [100, 200, 400, 800, 1_600]) {
      trial.hear(notFound)
      assert.deepStrictEqual(trial.wait(pause - 1), [])
      assert.deepStrictEqual(trial.wait(1), ["ask opened"])
    }
    while (!trial.isOver && trial.at < 400_000) {
      if (trial.isAsking) trial.hear(notFound)
      trial.wait(1)
    }
    assert.closeTo(trial.at, 300_000, 1)
  })

  it("is cancelled again when the runtime was away, and given up when it refuses", () => {
    const trial = stopping()
    trial.hear(state(session("OPEN")))
    assert.deepStrictEqual(trial.hear(cancelled(failure("UNAVAILABLE"))), [])
    assert.deepStrictEqual(trial.wait(100), ["ask opened"])
    assert.deepStrictEqual(trial.hear(answer("opened", session("OPEN"))), ["cancel session: not needed"])
    assert.deepStrictEqual(trial.hear(cancelled(failure("PERMISSION_DENIED"))), ["cancel forgotten", "finish"])
  })

  it("is cancelled although we may not look at it", () => {
    const asked = stopping().hear(answer("opened", failure("PERMISSION_DENIED")))
    assert.deepStrictEqual(asked, ["cancel session: not needed"])
  })
})
