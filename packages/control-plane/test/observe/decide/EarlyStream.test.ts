import { assert, describe, it } from "@effect/vitest"
import { answer, check, ended, failure, frames, identity, session, state, Trial } from "./support/Trial.ts"

const notFound = answer("opened", failure("NOT_FOUND"))

/** A run without a session so far; the runtime has not answered Initialize. */
const greeting = (watched = true) => {
  const trial = new Trial()
  trial.watched = watched
  trial.start()
  return trial
}

describe("the stream before the binding", () => {
  it("is opened as soon as the watch reports the session, and its frames are stored once the run is bound", () => {
    const trial = greeting()
    assert.deepStrictEqual(trial.receive(state(session("OPEN"))), ["subscribe 1 after 0"])
    assert.deepStrictEqual(trial.receive(frames(1, "m1", "m2"), frames(1, "m3")), [])
    assert.deepStrictEqual(trial.receive(identity()), ["bind", "run", "store m1 m2 m3 after 0"])
    assert.deepStrictEqual(trial.receive(frames(1, "m4")), ["store m4 after 3"])
  })

  it("has the whole session, although that is over before the run is bound", () => {
    const trial = greeting()
    trial.receive(
      state(session("OPEN")),
      frames(1, "m1", "m2"),
      state(session("RESOLVED", 2)),
      frames(1, "m3=Commitment")
    )
    assert.deepStrictEqual(trial.receive(identity()), [
      "bind",
      "run",
      "store m1 m2 m3 after 0",
      "end RESOLVED",
      "finish"
    ])
  })

  it("is not opened without a session while the watch is open", () => {
    assert.deepStrictEqual(new Trial().start(), ["start", "query identity"])
  })

  it("is tried from the start, and beside every query, while the watch is closed", () => {
    const trial = new Trial()
    trial.watched = false
    assert.deepStrictEqual(trial.start(), ["subscribe 1 after 0", "start", "query identity"])
    trial.receive(ended(1, failure("NOT_FOUND")))
    assert.deepStrictEqual(trial.receive(identity()), ["subscribe 2 after 0", "query opened"])
    trial.receive(ended(2, failure("NOT_FOUND")), notFound)
    assert.deepStrictEqual(trial.wait(19), [])
    assert.deepStrictEqual(trial.wait(1), ["subscribe 3 after 0", "query opened"])
  })

  it("is opened again at once when the attempt before ends behind the news of the session", () => {
    const gone = ended(1, failure("NOT_FOUND"))
    const early = greeting(false)
    assert.deepStrictEqual(early.receive(state(session("OPEN"))), [])
    assert.deepStrictEqual(early.receive(gone), ["subscribe 2 after 0"])
    assert.deepStrictEqual(early.receive(frames(2, "m1"), identity()), ["bind", "run", "store m1 after 0"])
    const reading = greeting(false)
    reading.policy = "late"
    reading.receive(identity())
    assert.deepStrictEqual(reading.receive(state(session("OPEN"))), ["query policy policy.default"])
    assert.deepStrictEqual(reading.receive(gone), ["subscribe 2 after 0"])
    assert.deepStrictEqual(greeting(false).receive(gone), [])
  })

  it("is tried less often the longer the session is missing", () => {
    const trial = greeting(false)
    trial.receive(identity())
    let tries = 0
    while (trial.at < 59_000) {
      if (trial.isQuerying) trial.receive(ended(trial.subscriptions, failure("NOT_FOUND")), notFound)
      tries += trial.wait(1).filter((line) => line === "query opened").length
    }
    assert.isAbove(tries, 60)
    assert.isBelow(tries, 200)
  })

  it("is not tried in haste while the runtime is away", () => {
    const trial = greeting(false)
    trial.receive(identity(), answer("opened", failure("UNAVAILABLE")))
    assert.deepStrictEqual(trial.wait(99), [])
    assert.include(trial.wait(1), "query opened")
  })

  it("shows that the session exists", () => {
    const trial = greeting(false)
    trial.receive(identity(), notFound)
    assert.deepStrictEqual(trial.receive(frames(1, "m1")), ["query opened"])
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), ["bind", "run", "store m1 after 0"])
  })

  it("is opened again when it has ended without a frame, and kept when it has delivered one", () => {
    const trial = greeting()
    trial.receive(state(session("OPEN")), ended(1, failure("UNAVAILABLE")))
    assert.deepStrictEqual(trial.receive(identity()), ["subscribe 2 after 0", "bind", "run"])
    const other = greeting()
    other.receive(state(session("OPEN")), frames(1, "m1"), ended(1, failure("UNAVAILABLE")))
    assert.deepStrictEqual(other.receive(identity()), ["bind", "run", "store m1 after 0", "query ended"])
    assert.include(other.wait(250), "subscribe 2 after 1")
  })

  it("holds no more than one append, and reads the further frames again once the run is bound", () => {
    const trial = greeting()
    const many = Array.from({ length: 1_100 }, (_, at) => `m${at + 1}`)
    trial.receive(state(session("OPEN")), frames(1, ...many), frames(1, ...many.map((id) => `${id}b`)))
    trial.receive(frames(1, "later"))
    assert.strictEqual(trial.receive(identity())[2], `store ${many.join(" ")} after 0`)
    assert.include(trial.wait(250), "subscribe 2 after 1100")
  })

  it("holds only so many bytes", () => {
    const trial = greeting()
    const big = (name: string) => frames(1, `${name}*3000000`)
    trial.receive(state(session("OPEN")), big("m1"), big("m2"), big("m3"))
    assert.include(trial.receive(identity()), "store m1 after 0")
  })

  it("fails the run when the runtime forbids it", () => {
    const trial = greeting()
    trial.receive(state(session("OPEN")), frames(1, "!FORBIDDEN: not yours"))
    assert.deepStrictEqual(trial.receive(identity()), ["bind", "run", "fail FORBIDDEN: FORBIDDEN: not yours", "finish"])
  })

  it("keeps envelopes that are accepted after the history was dropped", () => {
    const trial = greeting()
    const gone = "session history before ordinal 2 was compacted"
    trial.receive(state(session("RESOLVED", 2)), frames(1, `!${gone}`, "m3=Commitment"))
    assert.deepStrictEqual(trial.receive(identity()).slice(0, 4), [
      "bind",
      "run",
      `gap after 0: ${gone}`,
      "store m3 after 0"
    ])
    assert.strictEqual(trial.status, "completed")
  })

  it("does not bind to a state from before missed updates", () => {
    const trial = greeting()
    trial.receive(state(session("OPEN")), check)
    assert.deepStrictEqual(trial.receive(identity()), ["query opened"])
  })
})
