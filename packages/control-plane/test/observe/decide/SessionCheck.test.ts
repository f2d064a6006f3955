import { assert, describe, it } from "@effect/vitest"
import { answer, check, ended, failure, following, frames, session, state, Trial } from "./support/Trial.ts"

const away = failure("UNAVAILABLE")
const notFound = failure("NOT_FOUND")
const unanswered = (reason: "UNAVAILABLE" | "CIRCUIT_BREAKER_OPEN") => [answer("ended", failure(reason))] as const

/** A run that is suspended, as its session is. */
const suspended = () => {
  const trial = new Trial({ status: "suspended" })
  trial.start()
  trial.receive(answer("ended", session("SUSPENDED", 0)))
  return trial
}

describe("the session of a bound run", () => {
  for (const [announced, from, does, to] of [
    ["SUSPENDED", "running", "suspend", "suspended"],
    ["OPEN", "suspended", "resume", "running"]
  ] as const) {
    const begin = () => (from === "running" ? following() : suspended())

    it(`is ${announced}: the run is ${to} once the runtime has confirmed it`, () => {
      const trial = begin()
      assert.deepStrictEqual(trial.receive(state(session(announced))), ["query paused"])
      assert.deepStrictEqual(trial.receive(answer("paused", session(announced))), [does])
      assert.strictEqual(trial.status, to)
    })

    it(`was ${announced}, as a late announcement says: nothing changes`, () => {
      const trial = begin()
      trial.receive(state(session(announced)))
      const now = session(announced === "OPEN" ? "SUSPENDED" : "OPEN")
      assert.deepStrictEqual(trial.receive(answer("paused", now)), [])
      assert.strictEqual(trial.status, from)
    })

    it(`is ${announced}, and the runtime does not answer: the announcement counts`, () => {
      const trial = begin()
      trial.receive(state(session(announced)))
      assert.deepStrictEqual(trial.receive(answer("paused", away)), [does])
    })

    it(`is ${announced}, and a caller has made the run ${to} before: no query is sent`, () => {
      const trial = begin()
      trial.status = to
      assert.deepStrictEqual(trial.receive(state(session(announced))), [])
    })

    it(`is ${announced}, and the run's status changes meanwhile: the change is dropped`, () => {
      const trial = begin()
      trial.receive(state(session(announced)))
      trial.revision += 1
      assert.deepStrictEqual(trial.receive(answer("paused", session(announced))), [does])
      assert.strictEqual(trial.status, from)
    })

    it(`is found ${announced} by a check after a missed announcement`, () => {
      const trial = begin()
      assert.deepStrictEqual(trial.receive(check), ["query ended"])
      assert.deepStrictEqual(trial.receive(answer("ended", session(announced))), ["query paused"])
      assert.deepStrictEqual(trial.receive(answer("paused", session(announced))), [does])
    })
  }

  it("has ended by the time its suspension is confirmed", () => {
    const trial = following()
    trial.receive(state(session("SUSPENDED")))
    assert.deepStrictEqual(trial.receive(answer("paused", session("EXPIRED", -1))), ["end EXPIRED", "finish"])
  })

  it("is considered in the newest state when several were announced during a question", () => {
    const trial = following()
    assert.deepStrictEqual(trial.receive(check), ["query ended"])
    assert.deepStrictEqual(trial.receive(state(session("SUSPENDED")), state(session("OPEN"))), [])
    assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN"))), [])
    assert.strictEqual(trial.status, "running")
  })

  it("is queried again when updates were missed during a query", () => {
    const trial = following()
    trial.receive(check)
    assert.deepStrictEqual(trial.receive(check, check), [])
    assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN"))), ["query ended"])
    assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN"))), [])
  })

  for (const [ended, status] of [
    ["RESOLVED", "completed"],
    ["CANCELLED", "cancelled"],
    ["EXPIRED", "failed"]
  ] as const) {
    it(`is ${ended}: the run is ${status}, and the answer to a pending query does not count`, () => {
      for (const query of ["ended", "paused"] as const) {
        const trial = following()
        trial.receive(query === "ended" ? check : state(session("SUSPENDED")))
        trial.receive(frames(1, "m1"))
        // Counted: one SessionStart and one message.
        assert.deepStrictEqual(trial.receive(state(session(ended, 1))), [])
        assert.deepStrictEqual(trial.receive(answer(query, session("SUSPENDED"))), [])
        trial.receive(frames(1, "m2=Commitment"))
        trial.wait(100)
        assert.strictEqual(trial.status, status)
        assert.isTrue(trial.isOver)
      }
    })
  }

  describe("that ends right after its resumption", () => {
    for (const ending of ["RESOLVED", "CANCELLED", "EXPIRED"] as const) {
      it(`is resumed in the log before it is ${ending}`, () => {
        const trial = suspended()
        assert.deepStrictEqual(trial.receive(state(session("OPEN", -1)), state(session(ending, -1))).slice(0, 2), [
          "query paused",
          "resume"
        ])
        assert.strictEqual(trial.receive(answer("paused", session(ending, -1))).length, 0)
      })

      it(`is resumed in the log when the runtime confirms the resumption with ${ending}`, () => {
        const trial = suspended()
        assert.deepStrictEqual(trial.receive(state(session("OPEN", -1))), ["query paused"])
        assert.strictEqual(trial.receive(answer("paused", session(ending, -1)))[0], "resume")
      })
    }

    it("has been resumed when it is resolved, even without a notice", () => {
      assert.strictEqual(suspended().receive(state(session("RESOLVED", -1)))[0], "resume")
    })

    it("need not have been resumed when it was cancelled", () => {
      assert.notInclude(suspended().receive(state(session("CANCELLED", -1))), "resume")
    })

    it("is not resumed again by the observer when a caller has done so", () => {
      const trial = suspended()
      trial.status = "running"
      trial.receive(state(session("OPEN", -1)))
      const done = [...trial.receive(state(session("RESOLVED", -1))), ...trial.wait(2_000)]
      assert.notInclude(done, "resume")
    })
  })

  it("does not change the run that a caller has ended", () => {
    const trial = following()
    trial.status = "cancelled"
    trial.receive(check)
    assert.deepStrictEqual(trial.receive(answer("ended", session("SUSPENDED"))), [])
    assert.deepStrictEqual(trial.receive(state({ ...session("CANCELLED", -1) })), [])
    assert.deepStrictEqual(trial.wait(100), ["end CANCELLED", "finish"])
    assert.strictEqual(trial.status, "cancelled")
  })

  describe("that is silent", () => {
    it("is queried after each idle timeout, also while frames arrive", () => {
      const trial = new Trial({ status: "running" }, { streamIdleTimeoutMs: 5_000 })
      trial.start()
      for (let look = 0; look < 3; look++) {
        assert.deepStrictEqual(trial.receive(answer("ended", session("OPEN", 0))), [])
        for (const part of ["a", "b"]) {
          assert.deepStrictEqual(trial.wait(2_000), [])
          trial.receive(frames(1, `${look}${part}`))
        }
        assert.deepStrictEqual(trial.wait(999), [])
        assert.deepStrictEqual(trial.wait(1), ["query ended"])
        assert.isTrue(trial.isBatched)
      }
    })

    it("is never queried without a deadline and an idle timeout", () => {
      const trial = new Trial({ status: "running" }, { streamIdleTimeoutMs: Number.POSITIVE_INFINITY })
      trial.start()
      trial.receive(answer("ended", session("SUSPENDED", 0)))
      trial.wait(1_000)
      assert.deepStrictEqual(trial.wait(1_000_000_000), [])
    })

    it("is queried soon after its deadline, and then ever more rarely", () => {
      const trial = new Trial({ status: "running" })
      trial.start()
      const open = session("OPEN", 0, { expiresAtUnixMs: 30_000 })
      trial.receive(answer("ended", open))
      assert.deepStrictEqual(trial.wait(30_499), [])
      assert.deepStrictEqual(trial.wait(1), ["query ended"])
      assert.isFalse(trial.isBatched)
      for (const pause of [1_000, 1_500, 3_000, 6_000]) {
        trial.receive(answer("ended", open))
        assert.deepStrictEqual(trial.wait(pause - 1), [])
        assert.deepStrictEqual(trial.wait(1), ["query ended"])
      }
    })

    it("is queried a few times an hour by a clock that is far ahead of the runtime's", () => {
      const trial = new Trial({ status: "running" })
      trial.start()
      const open = answer("ended", session("OPEN", 0, { expiresAtUnixMs: -600_000 }))
      trial.receive(open)
      let asked = 0
      for (let second = 0; second < 3_600; second++) {
        for (let did = trial.wait(1_000); did.includes("query ended"); did = trial.receive(open)) asked += 1
      }
      assert.isAtLeast(asked, 20)
      assert.isAtMost(asked, 70)
    })

    it("is not queried at its deadline while it is suspended", () => {
      const trial = new Trial({ status: "suspended" })
      trial.start()
      trial.receive(answer("ended", session("SUSPENDED", 0, { expiresAtUnixMs: 30_000 })))
      assert.deepStrictEqual(trial.wait(60_000), [])
    })

    it("has expired when the runtime does not know it after its deadline, and not before", () => {
      const trial = new Trial({ status: "running", expiresAtUnixMs: 5_000 })
      trial.start()
      assert.deepStrictEqual(trial.receive(answer("ended", notFound)), [])
      assert.deepStrictEqual(trial.wait(5_500), ["query ended"])
      assert.deepStrictEqual(trial.receive(answer("ended", notFound)), ["end EXPIRED", "finish"])
      assert.strictEqual(trial.status, "failed")
    })

    it("has not expired when the runtime cannot be reached", () => {
      const trial = new Trial({ status: "running", expiresAtUnixMs: 5_000 })
      trial.start()
      trial.receive(answer("ended", away))
      trial.wait(5_500)
      assert.deepStrictEqual(trial.receive(answer("ended", away)), [])
      assert.deepStrictEqual(trial.wait(1_000), ["query ended"])
    })
  })

  describe("that the runtime does not know any more", () => {
    const lost = (ms: number) => [
      `fail SESSION_LOST: the runtime does not know session the-session any more: NOT_FOUND for ${ms} ms`,
      "finish"
    ]
    const unknown = answer("ended", notFound)

    /** The runtime has answered NOT_FOUND once, now. */
    const forgotten = (trial = following()) => {
      trial.receive(check)
      assert.deepStrictEqual(trial.receive(unknown), [])
      return trial
    }

    it("is lost after three answers NOT_FOUND within the time", () => {
      const trial = forgotten()
      assert.deepStrictEqual(trial.wait(7_499), [])
      assert.deepStrictEqual(trial.wait(1), ["query ended"])
      assert.deepStrictEqual(trial.receive(unknown), [])
      assert.deepStrictEqual(trial.wait(7_499), [])
      assert.deepStrictEqual(trial.wait(1), ["query ended"])
      assert.deepStrictEqual(trial.receive(unknown), lost(15_000))
      assert.strictEqual(trial.status, "failed")
    })

    it("is not lost by many answers before the time, nor by two answers after it", () => {
      const often = forgotten()
      for (let time = 0; time < 20; time++) {
        often.wait(100)
        often.receive(check)
        assert.deepStrictEqual(often.receive(unknown), [])
      }
      const seldom = forgotten()
      seldom.holdUp(20_000)
      assert.deepStrictEqual(seldom.receive(unknown), [])
    })

    it("is lost although its stream is opened again meanwhile", () => {
      const trial = following()
      const gone = failure("NOT_FOUND", "unknown session")
      trial.receive(ended(1, gone), unknown)
      const done: Array<string> = []
      while (!trial.isOver && trial.at < 60_000) {
        const lines = trial.wait(50)
        done.push(...lines)
        if (lines.some((line) => line.startsWith("subscribe")))
          done.push(...trial.receive(ended(trial.subscriptions, gone)))
        done.push(...trial.receive(answer("reconnect", notFound), unknown))
      }
      assert.match(done.at(-2) ?? "", /^fail SESSION_LOST/)
      assert.isAtMost(trial.at, 16_000)
      assert.isAtMost(trial.subscriptions, 8)
    })

    for (const [what, given] of [
      ["the runtime does not answer", unanswered("UNAVAILABLE")],
      ["the circuit is open", unanswered("CIRCUIT_BREAKER_OPEN")],
      ["the runtime knows it again", [answer("ended", session("OPEN", 0))]],
      ["the watch announces it", [state(session("OPEN", 0)), unanswered("UNAVAILABLE")[0]]],
      ["its stream delivers something", [frames(1, "m1"), unanswered("UNAVAILABLE")[0]]]
    ] as const) {
      it(`is counted anew when ${what}`, () => {
        const trial = forgotten()
        trial.wait(7_500)
        trial.receive(unknown)
        trial.wait(5_000)
        trial.receive(check, ...given)
        trial.receive(check, unknown)
        for (let waited = 0; waited < 14_000; waited += 500) {
          assert.notInclude(trial.wait(500).join(), "fail")
          trial.receive(check, unknown)
          assert.isFalse(trial.isOver)
        }
        trial.wait(1_000)
        trial.receive(check, unknown)
        assert.isTrue(trial.isOver)
      })
    }

    it("is never lost when the setting disables it", () => {
      const trial = forgotten(following({}, { sessionLostAfterMs: Number.POSITIVE_INFINITY }))
      for (let minute = 0; minute < 9; minute++) {
        trial.wait(60_000)
        assert.deepStrictEqual(trial.receive(unknown), [])
      }
    })

    it("was resolved when its Commitment is stored", () => {
      const trial = following()
      trial.receive(frames(1, "m1", "m2=Commitment"))
      forgotten(trial)
      trial.wait(7_500)
      trial.receive(unknown)
      trial.wait(7_500)
      assert.deepStrictEqual(trial.receive(unknown), ["end RESOLVED", "finish"])
      assert.strictEqual(trial.status, "completed")
    })

    it("is lost when it is suspended", () => {
      const trial = forgotten(suspended())
      trial.wait(7_500)
      trial.receive(unknown)
      trial.wait(7_500)
      assert.deepStrictEqual(trial.receive(unknown), lost(15_000))
    })
  })

  it("is queried half a second after a Commitment, also after a check in between", () => {
    const trial = following()
    trial.receive(frames(1, "m1", "m2=Commitment"))
    trial.wait(400)
    assert.deepStrictEqual(trial.receive(check), ["query ended"])
    assert.isFalse(trial.isBatched)
    trial.receive(answer("ended", session("OPEN")))
    assert.deepStrictEqual(trial.wait(99), [])
    assert.deepStrictEqual(trial.wait(1), ["query ended"])
    assert.isFalse(trial.isBatched)
  })
})
