import { assert, describe, it } from "@effect/vitest"
import { answer, check, ended, failure, following, frames, session, state } from "./support/Trial.ts"

const TIMEOUT_MS = 120_000
/** Sessions that outlast every wait of these tests. */
const long = { expiresAtUnixMs: 1e12 }
const open = (messages: number) => answer("ended", session("OPEN", messages, long))

/** A run that follows its open session, of which two envelopes have come. */
const idle = () => {
  const trial = following()
  trial.receive(state(session("OPEN", 0, long)))
  trial.receive(check)
  trial.receive(open(0))
  trial.wait(1_000)
  trial.receive(frames(1, "m1", "m2"))
  return trial
}

// docs/internals/runtime.md#idle-sessions
describe("an observation that has only its silence to wait for", () => {
  it("needs no alarm while the runtime counts as many messages as the log has", () => {
    const trial = idle()
    assert.deepStrictEqual(trial.unless, { received: 2, suspended: false })
    trial.wait(10_000)
    trial.receive(frames(1, "m3"))
    assert.deepStrictEqual(trial.unless, { received: 3, suspended: false })
  })

  it("rests on after it was woken and has found nothing", () => {
    const trial = idle()
    assert.deepStrictEqual(trial.wait(TIMEOUT_MS), ["query ended"])
    // For its state first, then for its silence.
    assert.deepStrictEqual(trial.receive(open(1)), ["query ended"])
    assert.deepStrictEqual(trial.receive(open(1)), [])
    assert.deepStrictEqual(trial.unless, { received: 2, suspended: false })
  })

  it("sets a new alarm with all that happens, because the last one may never ring", () => {
    const trial = idle()
    // It was spared all that time.
    const rested = trial.wakeAt ?? assert.fail("it has no alarm")
    trial.unless = undefined
    trial.receive(frames(1, "m3"))
    assert.deepStrictEqual(trial.unless, { received: 3, suspended: false })
    assert.isAtLeast(trial.wakeAt ?? 0, rested)
  })

  it("rests while its session is suspended, too, once that is settled", () => {
    const trial = idle()
    trial.unless = undefined
    trial.receive(state(session("SUSPENDED", 1, long)))
    assert.isUndefined(trial.unless)
    assert.deepStrictEqual(trial.receive(answer("paused", session("SUSPENDED", 1, long))), ["suspend"])
    assert.deepStrictEqual(trial.unless, { received: 2, suspended: true })
  })

  const cases = [
    ["the session may end", frames(1, "m3=Commitment")],
    ["the session may have ended", check],
    ["the stream has ended", ended(1)],
    ["the stream has broken", ended(1, failure("UNAVAILABLE"))]
  ] as const
  for (const [why, message] of cases) {
    it(`is woken in any case when ${why}`, () => {
      const trial = idle()
      trial.receive(message)
      trial.unless = undefined
      trial.wait(5)
      trial.receive(frames(9, "of-no-subscription"))
      assert.isUndefined(trial.unless)
      assert.isTrue(trial.isQuerying || trial.wakeAt !== undefined)
    })
  }

  it("is woken in any case while its question has no answer, and when the runtime counts more", () => {
    const trial = idle()
    trial.wait(TIMEOUT_MS)
    assert.isUndefined(trial.unless)
    trial.receive(open(5))
    assert.isUndefined(trial.unless)
  })

  it("is woken in any case when the time of the session is over before", () => {
    const trial = following()
    trial.receive(frames(1, "m1"))
    assert.deepStrictEqual(trial.unless, { received: 1, suspended: false })
    trial.receive(check)
    trial.receive(answer("ended", session("OPEN", 0, { expiresAtUnixMs: 30_000 })))
    assert.isUndefined(trial.unless)
  })
})
