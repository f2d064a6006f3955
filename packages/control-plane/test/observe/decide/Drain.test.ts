import { assert, describe, it } from "@effect/vitest"
import { answer, ended, failure, following, frames, session, state, Trial } from "./support/Trial.ts"

const resolved = (messages: number) => state(session("RESOLVED", messages))
const incomplete = (expected: number, received: number) =>
  `gap after ${received}: the session ended after ${expected} envelopes, of which ${received} were received`

/** Reads the whole history again after a silence of two seconds. */
const waitForReading = (trial: Trial, subscription: number) => {
  assert.deepStrictEqual(trial.wait(1_999), [])
  assert.deepStrictEqual(trial.wait(1), [])
  assert.deepStrictEqual(trial.wait(250), [`subscribe ${subscription} after 0`])
}

describe("the end of a session", () => {
  it("ends the run at once when everything is stored that the runtime has counted", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m2", "m3=Commitment"))
    assert.deepStrictEqual(trial.receive(resolved(2)), ["end RESOLVED", "finish"])
  })

  it("waits for the Commitment that follows it", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m2"))
    assert.deepStrictEqual(trial.receive(resolved(2)), [])
    assert.deepStrictEqual(trial.wait(1_000), [])
    assert.deepStrictEqual(trial.receive(frames(1, "m3=Commitment")), ["store m3 after 2", "end RESOLVED", "finish"])
  })

  it("waits for nothing when the runtime has forgotten the session", () => {
    const trial = following()
    assert.deepStrictEqual(trial.receive({ _tag: "State", state: "RESOLVED", snapshot: undefined }), [
      "end RESOLVED",
      "finish"
    ])
  })

  it("does not count the annotations of the runtime, from before a restart or since", () => {
    const trial = new Trial({ status: "running", cursor: 2 })
    trial.annotations = ["s1"]
    trial.start()
    trial.receive(frames(1, "s2=SessionResume", "implicit-accept:h1=HandoffAccept"))
    assert.deepStrictEqual(trial.receive(resolved(1)), [])
    assert.deepStrictEqual(trial.receive(frames(1, "m3=Commitment")), ["store m3 after 4", "end RESOLVED", "finish"])
  })

  it("has the history read again, twice, when envelopes are missing, and marks those that never arrive", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m3"), resolved(2))
    waitForReading(trial, 2)
    trial.receive(frames(2, "m1", "m3"))
    waitForReading(trial, 3)
    assert.deepStrictEqual(trial.wait(2_000), [incomplete(3, 2), "end RESOLVED"])
  })

  it("adds the missed envelopes when the history is read again", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m3=Commitment"), resolved(2))
    waitForReading(trial, 2)
    assert.deepStrictEqual(trial.receive(frames(2, "m1", "m2", "m3=Commitment")), [
      "store m1 m2 m3 after 2",
      "end RESOLVED",
      "finish"
    ])
  })

  it("has the history read twice more whenever something was found", () => {
    const trial = following()
    trial.receive(frames(1, "m1"), resolved(3))
    waitForReading(trial, 2)
    waitForReading(trial, 3)
    trial.receive(frames(3, "m1", "m2"))
    waitForReading(trial, 4)
    waitForReading(trial, 5)
    assert.deepStrictEqual(trial.wait(2_000), [incomplete(4, 2), "end RESOLVED"])
  })

  it("is not delayed by a flood of known frames", () => {
    const trial = following()
    trial.receive(frames(1, "m1"), resolved(2))
    const done: Array<string> = []
    while (trial.status === "running" && trial.at < 60_000) {
      done.push(...trial.wait(1_000))
      done.push(...trial.receive(frames(1, "m1")))
    }
    assert.deepStrictEqual(done.slice(-2), [incomplete(3, 1), "end RESOLVED"])
    assert.strictEqual(trial.at, 31_000)
  })

  it("is not taken for a silence when the process was held up", () => {
    const trial = following()
    trial.receive(frames(1, "m1"), resolved(2))
    trial.wait(100)
    assert.deepStrictEqual(trial.holdUp(5_000), [])
    trial.receive(frames(1, "m2"))
    assert.deepStrictEqual(trial.wait(1_999), [])
    assert.deepStrictEqual(trial.receive(frames(1, "m3=Commitment")).slice(-2), ["end RESOLVED", "finish"])
  })

  it("cuts the pause of a stream short, and its next ones", () => {
    const trial = following({}, { streamBackoffBaseMs: 20_000, streamBackoffMaxMs: 20_000 })
    trial.receive(ended(1), answer("ended", failure("UNAVAILABLE")))
    // The stream broke before the end, so its return is announced; a break after the end is not.
    assert.deepStrictEqual(trial.receive(resolved(1)), ["reconnecting: stream ended", "subscribe 2 after 0"])
    trial.receive(ended(2, failure("UNAVAILABLE")))
    assert.deepStrictEqual(trial.wait(250), ["subscribe 3 after 0"])
    trial.receive(frames(3, "m1"))
    assert.deepStrictEqual(trial.receive(frames(3, "m2=Commitment")).slice(-2), ["end RESOLVED", "finish"])
  })

  it("counts the silence of a stream that breaks again and again before it has been silent for so long", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m3=Commitment"), resolved(2))
    const lines: Array<string> = []
    for (const subscription of [1, 2]) {
      lines.push(...trial.wait(1_000))
      trial.receive(ended(subscription, failure("UNAVAILABLE")))
      lines.push(...trial.wait(250))
    }
    assert.deepStrictEqual(lines, ["subscribe 2 after 2", "subscribe 3 after 0"])
    assert.deepStrictEqual(trial.receive(frames(3, "m1", "m2", "m3=Commitment")).slice(-2), ["end RESOLVED", "finish"])
  })

  it("gives up a stream that stays away", () => {
    const trial = following()
    trial.receive(frames(1, "m1"), resolved(2))
    let subscription = 1
    while (trial.status === "running" && trial.at < 60_000) {
      trial.receive(ended(subscription, failure("UNAVAILABLE")))
      if (trial.wait(250).some((line) => line.startsWith("subscribe"))) subscription += 1
    }
    assert.isAbove(trial.at, 30_000)
    assert.isBelow(trial.at, 31_000)
    assert.strictEqual(trial.status, "completed")
  })

  it("waits no longer when the history was dropped, which is marked before the end", () => {
    const trial = following()
    trial.receive(frames(1, "m1"), resolved(4))
    const lost = failure("FAILED_PRECONDITION", "history before ordinal 4 was compacted")
    assert.deepStrictEqual(trial.receive(ended(1, lost)), [`gap after 1: ${lost.message}`, "end RESOLVED", "finish"])
  })

  it("is listened to for a moment when the runtime does not count", () => {
    const trial = following()
    trial.receive(frames(1, "m1"))
    assert.deepStrictEqual(trial.receive(state(session("RESOLVED"))), [])
    trial.receive(frames(1, "m2=Commitment"))
    trial.wait(400)
    trial.receive(frames(1, "m3"))
    assert.deepStrictEqual(trial.wait(499), [])
    assert.deepStrictEqual(trial.wait(1), ["end RESOLVED", "finish"])
  })

  it("keeps its stream for the runtime's last message when it was cancelled", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m2"))
    assert.deepStrictEqual(trial.receive(state(session("CANCELLED", 1))), [])
    trial.wait(50)
    assert.deepStrictEqual(trial.receive(frames(1, "c=SessionCancel")), ["store c after 2"])
    assert.deepStrictEqual(trial.wait(99), [])
    assert.deepStrictEqual(trial.wait(1), ["end CANCELLED", "finish"])
  })

  it("ends the run as failed when the runtime forbids to read the remaining envelopes", () => {
    const trial = following()
    trial.receive(resolved(2))
    assert.deepStrictEqual(trial.receive(ended(1, failure("PERMISSION_DENIED", "no"))), [
      "fail FORBIDDEN: no",
      "finish"
    ])
  })

  it("no longer causes a query of the session or the announcement of a reconnection", () => {
    const trial = following()
    trial.receive(frames(1, "m1=Commitment"), resolved(3))
    const done = trial.wait(600)
    assert.deepStrictEqual(done, [])
    assert.deepStrictEqual(trial.receive({ _tag: "Check" }, resolved(9)), [])
  })

  describe("without its Commitment", () => {
    /** A session that is resolved, with everything stored that was counted then. */
    const uncommitted = () => {
      const trial = following()
      trial.receive(frames(1, "m1", "m2"))
      assert.deepStrictEqual(trial.receive(resolved(1)), [])
      return trial
    }

    it("is not the end of the run before its arrival, although it was not counted", () => {
      const trial = uncommitted()
      assert.deepStrictEqual(trial.wait(1_999), [])
      assert.deepStrictEqual(trial.receive(frames(1, "m3=Commitment")), ["store m3 after 2", "end RESOLVED", "finish"])
    })

    it("is counted again, and the run ends when there is nothing more", () => {
      const trial = uncommitted()
      assert.deepStrictEqual(trial.wait(2_000), ["query counted"])
      assert.deepStrictEqual(trial.receive(answer("counted", session("RESOLVED", 1))), ["end RESOLVED", "finish"])
    })

    it("is counted again, and the newly counted messages are awaited", () => {
      const trial = uncommitted()
      trial.wait(2_000)
      assert.deepStrictEqual(trial.receive(answer("counted", session("RESOLVED", 2))), [])
      waitForReading(trial, 2)
      waitForReading(trial, 3)
      assert.deepStrictEqual(trial.wait(2_000), [incomplete(3, 2), "end RESOLVED"])
      assert.strictEqual(trial.status, "completed")
    })

    it("ends the run in time when the runtime does not answer, and late frames are stored", () => {
      for (const how of ["silence", "failure"] as const) {
        const trial = uncommitted()
        trial.wait(2_000)
        const done = how === "silence" ? trial.wait(2_000) : trial.receive(answer("counted", failure("UNAVAILABLE")))
        assert.deepStrictEqual(done, ["end RESOLVED"])
        assert.deepStrictEqual(trial.receive(frames(1, "m3=Commitment")), ["store m3 after 2", "finish"])
      }
    })

    it("is known to be whole when the Commitment was stored before a restart", () => {
      const trial = new Trial({ status: "running", cursor: 3 })
      trial.committed = true
      trial.start()
      assert.deepStrictEqual(trial.receive(resolved(2)), ["end RESOLVED", "finish"])
    })
  })

  describe("whose history arrived too late", () => {
    /** The run has ended with a gap, and its last subscription is open. */
    const late = () => {
      const trial = following()
      trial.receive(frames(1, "m1"), resolved(2))
      waitForReading(trial, 2)
      waitForReading(trial, 3)
      assert.deepStrictEqual(trial.wait(2_000), [incomplete(3, 1), "end RESOLVED"])
      return trial
    }

    it("is stored all the same, and the observation is over when it is whole", () => {
      const trial = late()
      assert.deepStrictEqual(trial.receive(frames(3, "m1", "m2")), ["store m1 m2 after 1"])
      assert.deepStrictEqual(trial.receive(frames(3, "m3=Commitment")), ["store m3 after 2", "finish"])
    })

    it("is listened to for as long as a drain may take", () => {
      const trial = late()
      // It began at some time of the last silence.
      assert.deepStrictEqual(trial.wait(28_000), [])
      assert.deepStrictEqual(trial.wait(2_000), ["finish"])
    })

    it("does not change the run when it is refused or dropped by then", () => {
      assert.deepStrictEqual(late().receive(frames(3, "!FORBIDDEN: not yours")), ["finish"])
      const gone = failure("FAILED_PRECONDITION", "history before ordinal 4 was compacted")
      assert.deepStrictEqual(late().receive(ended(3, gone)).slice(-1), ["finish"])
    })

    it("is requested again when the stream breaks", () => {
      const trial = late()
      trial.receive(ended(3, failure("UNAVAILABLE")))
      assert.include(trial.wait(2_000).join(), "subscribe 4 after")
      assert.include(trial.receive(frames(4, "m1", "m2", "m3=Commitment")), "finish")
    })
  })
})
