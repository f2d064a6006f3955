import { assert, describe, it } from "@effect/vitest"
import { RuntimeError } from "@runplane/runtime"
import { answer, ended, failure, following, frames, SESSION, session, state, Trial } from "./support/Trial.ts"

const unknown = answer("ended", failure("UNAVAILABLE"))

describe("the stream of a bound run", () => {
  it("begins after the stored envelopes when the run is adopted again, and the session is queried", () => {
    const trial = new Trial({ status: "running", cursor: 3 })
    assert.deepStrictEqual(trial.start(), ["read annotations", "subscribe 1 after 3", "query ended"])
  })

  it("stores arriving frames after the stored ones", () => {
    const trial = following()
    assert.deepStrictEqual(trial.receive(frames(1, "m1", "m2")), ["store m1 m2 after 0"])
    assert.deepStrictEqual(trial.receive(frames(1, "m3", "!RATE_LIMITED")), ["store m3 error after 2"])
  })

  it("drops frames of another session", () => {
    const trial = following()
    assert.deepStrictEqual(trial.receive(frames(1, "m1", "m2@another", "m3@")), ["store m1 after 0"])
    assert.deepStrictEqual(trial.receive(frames(1, "m4@another")), [])
  })

  it("drops frames and the end of a subscription that has been replaced: the new one delivers them again", () => {
    const trial = following()
    trial.receive(ended(1), unknown)
    assert.deepStrictEqual(trial.wait(250), ["reconnecting: stream ended", "subscribe 2 after 0"])
    assert.deepStrictEqual(trial.receive(frames(1, "m1"), ended(1)), [])
    assert.deepStrictEqual(trial.receive(frames(2, "m1")), ["store m1 after 0"])
  })

  it("queries the session whenever it ends, and continues from the stored ordinal after a pause", () => {
    const trial = following()
    trial.receive(frames(1, "m1"))
    assert.deepStrictEqual(trial.receive(ended(1, failure("UNAVAILABLE", "gone away"))), ["query ended"])
    assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN", 0))), [])
    assert.deepStrictEqual(trial.wait(249), [])
    assert.deepStrictEqual(trial.wait(1), ["reconnecting: gone away", "subscribe 2 after 1"])
  })

  it("pauses longer each time, and a little more by chance", () => {
    const trial = following({}, { streamMaxRetries: 9 }, 0.5)
    for (const [attempt, pause] of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      trial.receive(ended(attempt + 1), unknown)
      // Half of at most a fifth.
      assert.notInclude(trial.wait(Math.ceil(pause * 1.1) - 1).join(), "subscribe")
      assert.include(trial.wait(1), `subscribe ${attempt + 2} after 0`)
    }
  })

  it("begins with the shortest pause again after a frame", () => {
    const trial = following()
    trial.receive(ended(1), unknown)
    trial.wait(250)
    trial.receive(ended(2), unknown)
    assert.deepStrictEqual(trial.wait(499), [])
    trial.wait(1)
    trial.receive(frames(3, "m1"), ended(3), unknown)
    assert.deepStrictEqual(trial.wait(250), ["reconnecting: stream ended", "subscribe 4 after 1"])
  })

  it("does not begin with the shortest pause again after an inline error, and stores a repeated one once", () => {
    const trial = following({}, { streamMaxRetries: 9 })
    assert.deepStrictEqual(trial.receive(frames(1, "!INTERNAL", "!INTERNAL")), ["store error after 0"])
    for (const [attempt, pause] of [250, 500, 1_000].entries()) {
      trial.receive(ended(attempt + 1), unknown)
      assert.deepStrictEqual(trial.wait(pause - 1), [])
      assert.deepStrictEqual(trial.wait(1), ["reconnecting: stream ended", `subscribe ${attempt + 2} after 0`])
      assert.deepStrictEqual(trial.receive(frames(attempt + 2, "!INTERNAL")), [])
    }
    assert.deepStrictEqual(trial.receive(frames(4, "!OTHER", "m1")), ["store error m1 after 0"])
    assert.deepStrictEqual(trial.receive(frames(4, "!INTERNAL")), ["store error after 1"])
  })

  describe("that ends at a message that is too large", () => {
    const TEXT = "a message of 70000 bytes is larger than the 65536 bytes of RUNTIME_MAX_RECEIVE_MESSAGE_BYTES"
    const tooLarge = (messageId: string | undefined, sessionId = SESSION) => {
      const about = { macpVersion: "1.0", mode: "macp.mode.decision.v1", sender: "agent://a", timestampUnixMs: 0 }
      const envelope = messageId && { ...about, messageId, messageType: "Vote", sessionId, payload: new Uint8Array() }
      const oversized = { bytes: 70_000, envelope: envelope || undefined }
      return new RuntimeError({ reason: "RESOURCE_EXHAUSTED", message: TEXT, method: "StreamSession", oversized })
    }
    /** The stream ends that way, and the pause is over. */
    const endsAgain = (trial: Trial, error: RuntimeError, pauseMs: number) => [
      ...trial.receive(ended(trial.subscriptions, error), unknown),
      ...trial.wait(pauseMs - 1),
      "then",
      ...trial.wait(1)
    ]
    const reopened = (subscription: number, after: number) => [
      "then",
      `reconnecting: ${TEXT}`,
      `subscribe ${subscription} after ${after}`
    ]

    it("stores it without its payload at the third time, and begins behind it", () => {
      const trial = following()
      trial.receive(frames(1, "m1"))
      assert.deepStrictEqual(endsAgain(trial, tooLarge("m2"), 250), ["query ended", ...reopened(2, 1)])
      assert.deepStrictEqual(endsAgain(trial, tooLarge("m2"), 500), ["query ended", ...reopened(3, 1)])
      const third = endsAgain(trial, tooLarge("m2"), 250)
      assert.deepStrictEqual(third, ["store m2 after 1", "query ended", ...reopened(4, 2)])
      assert.match(trial.withheld.get("m2") ?? "", /^a message of 70000 bytes is larger than .* RUNTIME_MAX_RECEIVE/)
      assert.deepStrictEqual(trial.receive(frames(4, "m3=Commitment")), ["store m3 after 2"])
    })

    it("stores the next one at once when no other message is between", () => {
      const trial = following()
      for (const pause of [250, 500, 250]) endsAgain(trial, tooLarge("m1"), pause)
      const next = endsAgain(trial, tooLarge("m2"), 250)
      assert.deepStrictEqual(next, ["store m2 after 1", "query ended", ...reopened(5, 2)])
      trial.receive(frames(5, "m3"))
      assert.deepStrictEqual(endsAgain(trial, tooLarge("m4"), 250), ["query ended", ...reopened(6, 3)])
    })

    it("pauses longer each time when the log has it already", () => {
      const trial = following({}, { streamMaxRetries: 99 })
      for (const pause of [250, 500, 250]) endsAgain(trial, tooLarge("m1"), pause)
      for (const pause of [500, 1_000, 2_000, 4_000]) {
        assert.include(endsAgain(trial, tooLarge("m1"), pause).at(-1), `subscribe ${trial.subscriptions} after `)
      }
    })

    it("pauses longer each time when its first bytes lack the envelope, or name another session", () => {
      for (const error of [tooLarge(undefined), tooLarge("m1", "another")]) {
        const trial = following({}, { streamMaxRetries: 99 })
        for (const pause of [250, 500, 1_000, 2_000, 4_000]) {
          assert.strictEqual(endsAgain(trial, error, pause).at(-1), `subscribe ${trial.subscriptions} after 0`)
        }
      }
    })
  })

  it("pauses longer each time although the runtime knows the session, until a stream lasts", () => {
    const trial = following({}, { streamMaxRetries: 1 })
    const broken = failure("INTERNAL", "broken")
    /** Milliseconds until the next subscription. */
    const pauseAfterEnd = () => {
      const { at, subscriptions } = trial
      trial.receive(ended(subscriptions, broken), unknown)
      while (trial.subscriptions === subscriptions) {
        const done = trial.wait(50)
        if (done.includes("query ended")) trial.receive(unknown)
        if (done.includes("query reconnect")) trial.receive(answer("reconnect", session("OPEN", 0)))
      }
      return trial.at - at
    }
    assert.deepStrictEqual([1, 2, 3, 4, 5].map(pauseAfterEnd), [250, 250, 500, 1_000, 2_000])
    for (let second = 0; second < 31; second++) if (trial.wait(1_000).includes("query ended")) trial.receive(unknown)
    assert.deepStrictEqual([1, 2, 3].map(pauseAfterEnd), [250, 250, 500])
  })

  describe("after the last attempt", () => {
    /** The pause is over, and the session is queried before another subscription. */
    const doubting = () => {
      const trial = following({}, { streamMaxRetries: 1 })
      trial.receive(ended(1), unknown)
      trial.wait(250)
      trial.receive(ended(2, failure("UNAVAILABLE", "away")), unknown)
      assert.deepStrictEqual(trial.wait(250), ["query reconnect"])
      return trial
    }
    const subscribed = ["reconnecting: away", "subscribe 3 after 0"]

    it("subscribes again when the runtime knows the session", () => {
      assert.deepStrictEqual(doubting().receive(answer("reconnect", session("OPEN"))), subscribed)
    })

    it("subscribes again to a session that has ended, and queries it: its history may still be served", () => {
      const done = doubting().receive(answer("reconnect", session("RESOLVED")))
      assert.deepStrictEqual(done, [...subscribed, "query ended"])
    })

    it("polls while the runtime does not answer", () => {
      const trial = doubting()
      for (const pause of [500, 1_000, 2_000]) {
        assert.deepStrictEqual(trial.receive(answer("reconnect", failure("UNAVAILABLE"))), ["query ended"])
        trial.receive(unknown)
        trial.wait(pause - 1)
        assert.include(trial.wait(1), "query reconnect")
      }
      assert.include(trial.receive(answer("reconnect", session("SUSPENDED"))), "subscribe 3 after 0")
    })

    it("waits no longer for the answer when the session ends", () => {
      const trial = doubting()
      assert.deepStrictEqual(trial.receive(state(session("RESOLVED", 1))), [
        "reconnecting: away",
        "subscribe 3 after 0"
      ])
      assert.deepStrictEqual(trial.receive(answer("reconnect", failure("UNAVAILABLE"))), [])
    })
  })

  describe("that was silent for the idle timeout", () => {
    const reopened = (subscription: number) => ["reconnecting: stream ended", `subscribe ${subscription} after 2`]

    /** Two envelopes have arrived; the next query compares the counts. */
    const silent = () => {
      const times = { streamIdleTimeoutMs: 10_000, drainTimeoutMs: 2_000, streamBackoffMaxMs: 250 }
      const trial = following({}, { ...times, streamMaxRetries: 99 })
      trial.wait(6_000)
      trial.receive(frames(1, "m1", "m2"))
      assert.notInclude(trial.wait(9_999).join(), "subscribe")
      trial.receive(unknown)
      assert.deepStrictEqual(trial.wait(1), ["query ended"])
      return trial
    }

    it("stays open for as long as the runtime counts what the log has", () => {
      const trial = silent()
      for (let time = 0; time < 20; time++) {
        assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN", 1))), [])
        assert.deepStrictEqual(trial.wait(9_999), [])
        assert.deepStrictEqual(trial.wait(1), ["query ended"])
        assert.isTrue(trial.isBatched)
      }
    })

    it("is queried a timeout after the last query, however late its answer arrived", () => {
      const trial = silent()
      trial.wait(5_000)
      trial.receive(answer("ended", session("OPEN", 1)))
      assert.deepStrictEqual(trial.wait(4_999), [])
      assert.deepStrictEqual(trial.wait(1), ["query ended"])
    })

    it("is opened again when the runtime counts more, and those do not arrive either", () => {
      const trial = silent()
      trial.receive(answer("ended", session("OPEN", 1)))
      trial.wait(10_000)
      assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN", 2))), [])
      assert.deepStrictEqual(trial.wait(1_999), [])
      assert.deepStrictEqual(trial.wait(1), ["query ended"])
      assert.deepStrictEqual(trial.wait(250), reopened(2))
    })

    it("stays open when the counted messages were in flight", () => {
      const trial = silent()
      trial.receive(answer("ended", session("OPEN", 2)))
      trial.wait(1_999)
      assert.deepStrictEqual(trial.receive(frames(1, "m3")), ["store m3 after 2"])
      assert.notInclude(trial.wait(9_999).join(), "subscribe")
    })

    it("is opened again when the runtime does not answer", () => {
      const trial = silent()
      assert.deepStrictEqual(trial.receive(unknown), [])
      assert.deepStrictEqual(trial.wait(0), ["query ended"])
      assert.deepStrictEqual(trial.wait(250), reopened(2))
    })

    it("is opened ever more rarely when the runtime does not count, until a frame arrives", () => {
      const trial = silent()
      const uncounted = answer("ended", session("OPEN"))
      /** Seconds until the stream is opened again. */
      const patience = (subscription: number) => {
        for (let seconds = 1; seconds < 1_000; seconds++) {
          if (trial.wait(1_000).includes(`subscribe ${subscription} after ${trial.cursor}`)) return seconds
          trial.receive(uncounted)
        }
        return undefined
      }
      trial.receive(uncounted)
      assert.deepStrictEqual(
        [2, 3, 4, 5, 6, 7, 8].map((subscription) => patience(subscription)),
        [1, 21, 41, 81, 161, 321, 321]
      )
      trial.receive(frames(8, "m3"))
      assert.strictEqual(patience(9), 11)
    })
  })

  it("is not idle while a batch takes long to be stored", () => {
    const trial = following({}, { streamIdleTimeoutMs: 10_000 })
    trial.receive(frames(1, "m1"))
    // The log answers late; whatever came meanwhile waits behind its answer.
    trial.holdUp(9_999)
    assert.deepStrictEqual(trial.receive(frames(1, "m2")), ["store m2 after 1"])
    assert.notInclude(trial.wait(9_000).join(), "subscribe")
  })

  describe("whose append has an unknown fate", () => {
    it("continues at once after the cursor of the log", () => {
      const trial = following()
      trial.cursor = 2
      trial.refusal = { _tag: "Behind", cursor: 2 }
      assert.deepStrictEqual(trial.receive(frames(1, "m1", "m2")), ["store m1 m2 after 0", "subscribe 2 after 2"])
    })
  })

  it("is left to another observer that has stored envelopes", () => {
    const trial = following()
    trial.cursor = 4
    assert.deepStrictEqual(trial.receive(frames(1, "m1")), ["store m1 after 0", "finish"])
    assert.strictEqual(trial.status, "running")
  })

  it("is left when the run was deleted", () => {
    const stored = following()
    stored.deleted = true
    assert.deepStrictEqual(stored.receive(frames(1, "m1")), ["store m1 after 0", "finish"])
    const reread = following()
    reread.deleted = true
    assert.deepStrictEqual(reread.receive(ended(1)), ["finish"])
  })

  it("fails the run when the runtime forbids it, by a status or within the stream", () => {
    const fails = ["fail FORBIDDEN: FORBIDDEN: not yours", "finish"]
    assert.deepStrictEqual(following().receive(frames(1, "!FORBIDDEN: not yours")), fails)
    assert.deepStrictEqual(following().receive(ended(1, failure("PERMISSION_DENIED", "FORBIDDEN: not yours"))), fails)
  })

  describe("whose history was dropped", () => {
    const TEXT = "session history before ordinal 4 was compacted"
    const gap = `gap after 0: ${TEXT}`

    it("is marked, and the session is polled for its end, with longer pauses each time", () => {
      for (const lost of [frames(1, `!${TEXT}`), ended(1, failure("FAILED_PRECONDITION", TEXT))]) {
        const trial = following()
        assert.deepStrictEqual(trial.receive(lost), [gap, "query ended"])
        for (const pause of [250, 500, 1_000]) {
          trial.receive(answer("ended", session("OPEN", 0)))
          assert.deepStrictEqual(trial.wait(pause - 1), [])
          assert.deepStrictEqual(trial.wait(1), ["query ended"])
        }
        assert.deepStrictEqual(trial.receive(answer("ended", session("RESOLVED", 9))), ["end RESOLVED", "finish"])
      }
    })

    it("is known by the code of newer runtimes too", () => {
      const lost = ended(1, failure("OUT_OF_RANGE", "HISTORY_UNAVAILABLE"))
      assert.deepStrictEqual(following().receive(lost), ["gap after 0: HISTORY_UNAVAILABLE", "query ended"])
    })
  })
})
