import { assert, describe, it } from "@effect/vitest"
import { answer, check, ended, failure, frames, identity, session, state, Trial } from "./support/Trial.ts"

const notFound = answer("opened", failure("NOT_FOUND"))

/** A run of which nobody has heard anything yet; the runtime has not answered its greeting. */
const greeting = (watched = true) => {
  const trial = new Trial()
  trial.watched = watched
  trial.start()
  return trial
}

describe("the stream before the binding", () => {
  it("is opened as soon as the watch tells of the session, and what it brings is stored once the run is bound", () => {
    const trial = greeting()
    assert.deepStrictEqual(trial.hear(state(session("OPEN"))), ["subscribe 1 after 0"])
    assert.deepStrictEqual(trial.hear(frames(1, "m1", "m2"), frames(1, "m3")), [])
    assert.deepStrictEqual(trial.hear(identity()), ["bind", "run", "store m1 m2 m3 after 0"])
    assert.deepStrictEqual(trial.hear(frames(1, "m4")), ["store m4 after 3"])
  })

  it("has the whole session, although that is over before the run is bound", () => {
    const trial = greeting()
    trial.hear(state(session("OPEN")), frames(1, "m1", "m2"), state(session("RESOLVED", 2)), frames(1, "m3=Commitment"))
    assert.deepStrictEqual(trial.hear(identity()), ["bind", "run", "store m1 m2 m3 after 0", "end RESOLVED", "finish"])
  })

  it("is not opened on nothing while a watch would tell of the session", () => {
    assert.deepStrictEqual(new Trial().start(), ["start", "ask identity"])
  })

  it("is tried from the start, and beside every question, while no watch is heard", () => {
    const trial = new Trial()
    trial.watched = false
    assert.deepStrictEqual(trial.start(), ["subscribe 1 after 0", "start", "ask identity"])
    trial.hear(ended(1, failure("NOT_FOUND")))
    assert.deepStrictEqual(trial.hear(identity()), ["subscribe 2 after 0", "ask opened"])
    trial.hear(ended(2, failure("NOT_FOUND")), notFound)
    assert.deepStrictEqual(trial.wait(19), [])
    assert.deepStrictEqual(trial.wait(1), ["subscribe 3 after 0", "ask opened"])
  })

  it("is opened again at once when the attempt before ends behind the news of the session", () => {
    const gone = ended(1, failure("NOT_FOUND"))
    const early = greeting(false)
    assert.deepStrictEqual(early.hear(state(session("OPEN"))), [])
    assert.deepStrictEqual(early.hear(gone), ["subscribe 2 after 0"])
    assert.deepStrictEqual(early.hear(frames(2, "m1"), identity()), ["bind", "run", "store m1 after 0"])
    const reading = greeting(false)
    reading.policy = "late"
    reading.hear(identity())
    assert.deepStrictEqual(reading.hear(state(session("OPEN"))), ["ask policy policy.default"])
    assert.deepStrictEqual(reading.hear(gone), ["subscribe 2 after 0"])
    assert.deepStrictEqual(greeting(false).hear(gone), [])
  })

  it("is tried less often the longer nobody opens the session", () => {
    const trial = greeting(false)
    trial.hear(identity())
    let tries = 0
    while (trial.at < 59_000) {
      if (trial.isAsking) trial.hear(ended(trial.subscriptions, failure("NOT_FOUND")), notFound)
      tries += trial.wait(1).filter((line) => line === "ask opened").length
    }
    assert.isAbove(tries, 60)
    assert.isBelow(tries, 200)
  })

  it("is not tried in haste while the runtime is away", () => {
    const trial = greeting(false)
    trial.hear(identity(), answer("opened", failure("UNAVAILABLE")))
    assert.deepStrictEqual(trial.wait(99), [])
    assert.include(trial.wait(1), "ask opened")
  })

  it("says that there is a session to be asked for", () => {
    const trial = greeting(false)
    trial.hear(identity(), notFound)
    assert.deepStrictEqual(trial.hear(frames(1, "m1")), ["ask opened"])
    assert.deepStrictEqual(trial.hear(answer("opened", session("OPEN"))), ["bind", "run", "store m1 after 0"])
  })

  it("is opened again when it has ended without bringing anything, and kept when it has brought something", () => {
    const trial = greeting()
    trial.hear(state(session("OPEN")), ended(1, failure("UNAVAILABLE")))
    assert.deepStrictEqual(trial.hear(identity()), ["subscribe 2 after 0", "bind", "run"])
    const other = greeting()
    other.hear(state(session("OPEN")), frames(1, "m1"), ended(1, failure("UNAVAILABLE")))
    assert.deepStrictEqual(other.hear(identity()), ["bind", "run", "store m1 after 0", "ask ended"])
    assert.include(other.wait(250), "subscribe 2 after 1")
  })

  it("holds no more than one append, and reads the rest again once the run is bound", () => {
    const trial = greeting()
    const many = Array.from({ length: 1_100 }, (_, at) => `m${at + 1}`)
    trial.hear(state(session("OPEN")), frames(1, ...many), frames(1, ...many.map((id) => `${id}b`)))
    trial.hear(frames(1, "later"))
    assert.strictEqual(trial.hear(identity())[2], `store ${many.join(" ")} after 0`)
    assert.include(trial.wait(250), "subscribe 2 after 1100")
  })

  it("holds only so many bytes", () => {
    const trial = greeting()
    const big = (name: string) => frames(1, `${name}*3000000`)
    trial.hear(state(session("OPEN")), big("m1"), big("m2"), big("m3"))
    assert.include(trial.hear(identity()), "store m1 after 0")
  })

  it("fails the run when the runtime forbids it", () => {
    const trial = greeting()
    trial.hear(state(session("OPEN")), frames(1, "!FORBIDDEN: not yours"))
    assert.deepStrictEqual(trial.hear(identity()), ["bind", "run", "fail FORBIDDEN: FORBIDDEN: not yours", "finish"])
  })

  it("keeps what is accepted after the history was dropped", () => {
    const trial = greeting()
    const gone = "session history before ordinal 2 was compacted"
    trial.hear(state(session("RESOLVED", 2)), frames(1, `!${gone}`, "m3=Commitment"))
    assert.deepStrictEqual(trial.hear(identity()).slice(0, 4), [
      "bind",
      "run",
      `gap after 0: ${gone}`,
      "store m3 after 0"
    ])
    assert.strictEqual(trial.status, "completed")
  })

  it("does not bind by what was heard before updates were missed", () => {
    const trial = greeting()
    trial.hear(state(session("OPEN")), check)
    assert.deepStrictEqual(trial.hear(identity()), ["ask opened"])
  })
})
