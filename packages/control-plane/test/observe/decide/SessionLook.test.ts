import { assert, describe, it } from "@effect/vitest"
import { answer, check, ended, failure, following, frames, session, state, Trial } from "./support/Trial.ts"

const away = failure("UNAVAILABLE")
const notFound = failure("NOT_FOUND")
const unanswered = (reason: "UNAVAILABLE" | "CIRCUIT_BREAKER_OPEN") => [answer("ended", failure(reason))] as const

/** A run that is suspended, as its session is. */
const suspended = () => {
  const trial = new Trial({ status: "suspended" })
  trial.start()
  trial.hear(answer("ended", session("SUSPENDED", 0)))
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
      assert.deepStrictEqual(trial.hear(state(session(announced))), ["ask paused"])
      assert.deepStrictEqual(trial.hear(answer("paused", session(announced))), [does])
      assert.strictEqual(trial.status, to)
    })

    it(`was ${announced}, as a late announcement says: nothing changes`, () => {
      const trial = begin()
      trial.hear(state(session(announced)))
      const now = session(announced === "OPEN" ? "SUSPENDED" : "OPEN")
      assert.deepStrictEqual(trial.hear(answer("paused", now)), [])
      assert.strictEqual(trial.status, from)
    })

    it(`is ${announced}, and the runtime does not answer: the announcement counts`, () => {
      const trial = begin()
      trial.hear(state(session(announced)))
      assert.deepStrictEqual(trial.hear(answer("paused", away)), [does])
    })

    it(`is ${announced}, and a caller has made the run ${to} before: nothing is asked`, () => {
      const trial = begin()
      trial.status = to
      assert.deepStrictEqual(trial.hear(state(session(announced))), [])
    })

    it(`is ${announced}, and somebody changes the run's status meanwhile: the change is dropped`, () => {
      const trial = begin()
      trial.hear(state(session(announced)))
      trial.revision += 1
      assert.deepStrictEqual(trial.hear(answer("paused", session(announced))), [does])
      assert.strictEqual(trial.status, from)
    })

    it(`is found ${announced} by a look that missed the announcement`, () => {
      const trial = begin()
      assert.deepStrictEqual(trial.hear(check), ["ask ended"])
      assert.deepStrictEqual(trial.hear(answer("ended", session(announced))), ["ask paused"])
      assert.deepStrictEqual(trial.hear(answer("paused", session(announced))), [does])
    })
  }

  it("has ended by the time its suspension is confirmed", () => {
    const trial = following()
    trial.hear(state(session("SUSPENDED")))
    assert.deepStrictEqual(trial.hear(answer("paused", session("EXPIRED", -1))), ["end EXPIRED", "finish"])
  })

  it("is considered in the newest state when several were announced during a question", () => {
    const trial = following()
    assert.deepStrictEqual(trial.hear(check), ["ask ended"])
    assert.deepStrictEqual(trial.hear(state(session("SUSPENDED")), state(session("OPEN"))), [])
    assert.deepStrictEqual(trial.hear(answer("ended", session("OPEN"))), [])
    assert.strictEqual(trial.status, "running")
  })

  it("is asked for again when updates were missed during a question", () => {
    const trial = following()
    trial.hear(check)
    assert.deepStrictEqual(trial.hear(check, check), [])
    assert.deepStrictEqual(trial.hear(answer("ended", session("OPEN"))), ["ask ended"])
    assert.deepStrictEqual(trial.hear(answer("ended", session("OPEN"))), [])
  })

  for (const [ended, status] of [
    ["RESOLVED", "completed"],
    ["CANCELLED", "cancelled"],
    ["EXPIRED", "failed"]
  ] as const) {
    it(`is ${ended}: the run is ${status}, whatever question is open, and its answer counts no more`, () => {
      for (const question of ["ended", "paused"] as const) {
        const trial = following()
        trial.hear(question === "ended" ? check : state(session("SUSPENDED")))
        trial.hear(frames(1, "m1"))
        // Counted: one SessionStart and one message.
        assert.deepStrictEqual(trial.hear(state(session(ended, 1))), [])
        assert.deepStrictEqual(trial.hear(answer(question, session("SUSPENDED"))), [])
        trial.hear(frames(1, "m2=Commitment"))
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
        assert.deepStrictEqual(trial.hear(state(session("OPEN", -1)), state(session(ending, -1))).slice(0, 2), [
          "ask paused",
          "resume"
        ])
        assert.strictEqual(trial.hear(answer("paused", session(ending, -1))).length, 0)
      })

      it(`is resumed in the log when the runtime confirms the resumption with ${ending}`, () => {
        const trial = suspended()
        assert.deepStrictEqual(trial.hear(state(session("OPEN", -1))), ["ask paused"])
        assert.strictEqual(trial.hear(answer("paused", session(ending, -1)))[0], "resume")
      })
    }

    it("has been resumed when it is resolved, even if nobody told", () => {
      assert.strictEqual(suspended().hear(state(session("RESOLVED", -1)))[0], "resume")
    })

    it("need not have been resumed when it was cancelled", () => {
      assert.notInclude(suspended().hear(state(session("CANCELLED", -1))), "resume")
    })

    it("is not resumed again by the observer when a caller has done so", () => {
      const trial = suspended()
      trial.status = "running"
      trial.hear(state(session("OPEN", -1)))
      const done = [...trial.hear(state(session("RESOLVED", -1))), ...trial.wait(2_000)]
      assert.notInclude(done, "resume")
    })
  })

  it("does not change the run that a caller has ended", () => {
    const trial = following()
    trial.status = "cancelled"
    trial.hear(check)
    assert.deepStrictEqual(trial.hear(answer("ended", session("SUSPENDED"))), [])
    assert.deepStrictEqual(trial.hear(state({ ...session("CANCELLED", -1) })), [])
    assert.deepStrictEqual(trial.wait(100), ["end CANCELLED", "finish"])
    assert.strictEqual(trial.status, "cancelled")
  })

  describe("that is silent", () => {
    it("is asked for when the idle time-out has passed, again and again, whatever comes on the stream", () => {
      const trial = new Trial({ status: "running" }, { streamIdleTimeoutMs: 5_000 })
      trial.start()
      for (let look = 0; look < 3; look++) {
        assert.deepStrictEqual(trial.hear(answer("ended", session("OPEN", 0))), [])
        for (const part of ["a", "b"]) {
          assert.deepStrictEqual(trial.wait(2_000), [])
          trial.hear(frames(1, `${look}${part}`))
        }
        assert.deepStrictEqual(trial.wait(999), [])
        assert.deepStrictEqual(trial.wait(1), ["ask ended"])
        assert.isTrue(trial.isPatient)
      }
    })

    it("is never asked for without a deadline when there is no idle time-out", () => {
      const trial = new Trial({ status: "running" }, { streamIdleTimeoutMs: Number.POSITIVE_INFINITY })
      trial.start()
      trial.hear(answer("ended", session("SUSPENDED", 0)))
      trial.wait(1_000)
      assert.deepStrictEqual(trial.wait(1_000_000_000), [])
    })

    it("is asked for soon after its deadline, and then ever more rarely", () => {
      const trial = new Trial({ status: "running" })
      trial.start()
      const open = session("OPEN", 0, { expiresAtUnixMs: 30_000 })
      trial.hear(answer("ended", open))
      assert.deepStrictEqual(trial.wait(30_499), [])
      assert.deepStrictEqual(trial.wait(1), ["ask ended"])
      assert.isFalse(trial.isPatient)
      for (const pause of [1_000, 1_500, 3_000, 6_000]) {
        trial.hear(answer("ended", open))
        assert.deepStrictEqual(trial.wait(pause - 1), [])
        assert.deepStrictEqual(trial.wait(1), ["ask ended"])
      }
    })

    it("is asked for a few times an hour by a clock that is far ahead of the runtime's", () => {
      const trial = new Trial({ status: "running" })
      trial.start()
      const open = answer("ended", session("OPEN", 0, { expiresAtUnixMs: -600_000 }))
      trial.hear(open)
      let asked = 0
      for (let second = 0; second < 3_600; second++) {
        for (let did = trial.wait(1_000); did.includes("ask ended"); did = trial.hear(open)) asked += 1
      }
      assert.isAtLeast(asked, 20)
      assert.isAtMost(asked, 70)
    })

    it("is not asked for at its deadline while it is suspended: the runtime's clock stands still", () => {
      const trial = new Trial({ status: "suspended" })
      trial.start()
      trial.hear(answer("ended", session("SUSPENDED", 0, { expiresAtUnixMs: 30_000 })))
      assert.deepStrictEqual(trial.wait(60_000), [])
    })

    it("has expired when the runtime does not know it after its deadline, and not before", () => {
      const trial = new Trial({ status: "running", expiresAtUnixMs: 5_000 })
      trial.start()
      assert.deepStrictEqual(trial.hear(answer("ended", notFound)), [])
      assert.deepStrictEqual(trial.wait(5_500), ["ask ended"])
      assert.deepStrictEqual(trial.hear(answer("ended", notFound)), ["end EXPIRED", "finish"])
      assert.strictEqual(trial.status, "failed")
    })

    it("has not expired when the runtime cannot be reached", () => {
      const trial = new Trial({ status: "running", expiresAtUnixMs: 5_000 })
      trial.start()
      trial.hear(answer("ended", away))
      trial.wait(5_500)
      assert.deepStrictEqual(trial.hear(answer("ended", away)), [])
      assert.deepStrictEqual(trial.wait(1_000), ["ask ended"])
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
      trial.hear(check)
      assert.deepStrictEqual(trial.hear(unknown), [])
      return trial
    }

    it("is lost after three answers NOT_FOUND within the time", () => {
      const trial = forgotten()
      assert.deepStrictEqual(trial.wait(7_499), [])
      assert.deepStrictEqual(trial.wait(1), ["ask ended"])
      assert.deepStrictEqual(trial.hear(unknown), [])
      assert.deepStrictEqual(trial.wait(7_499), [])
      assert.deepStrictEqual(trial.wait(1), ["ask ended"])
      assert.deepStrictEqual(trial.hear(unknown), lost(15_000))
      assert.strictEqual(trial.status, "failed")
    })

    it("is not lost by many answers before the time, nor by two answers after it", () => {
      const often = forgotten()
      for (let time = 0; time < 20; time++) {
        often.wait(100)
        often.hear(check)
        assert.deepStrictEqual(often.hear(unknown), [])
      }
      const seldom = forgotten()
      seldom.holdUp(20_000)
      assert.deepStrictEqual(seldom.hear(unknown), [])
    })

    it("is lost although its stream is opened again meanwhile", () => {
      const trial = following()
      const gone = failure("NOT_FOUND", "unknown session")
      trial.hear(ended(1, gone), unknown)
      const done: Array<string> = []
      while (!trial.isOver && trial.at < 60_000) {
        const lines = trial.wait(50)
        done.push(...lines)
        if (lines.some((line) => line.startsWith("subscribe")))
          done.push(...trial.hear(ended(trial.subscriptions, gone)))
        done.push(...trial.hear(answer("reconnect", notFound), unknown))
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
        trial.hear(unknown)
        trial.wait(5_000)
        trial.hear(check, ...given)
        trial.hear(check, unknown)
        for (let waited = 0; waited < 14_000; waited += 500) {
          assert.notInclude(trial.wait(500).join(), "fail")
          trial.hear(check, unknown)
          assert.isFalse(trial.isOver)
        }
        trial.wait(1_000)
        trial.hear(check, unknown)
        assert.isTrue(trial.isOver)
      })
    }

    it("is never lost when the setting says so", () => {
      const trial = forgotten(following({}, { sessionLostAfterMs: Number.POSITIVE_INFINITY }))
      for (let minute = 0; minute < 9; minute++) {
        trial.wait(60_000)
        assert.deepStrictEqual(trial.hear(unknown), [])
      }
    })

    it("was resolved when its Commitment is stored", () => {
      const trial = following()
      trial.hear(frames(1, "m1", "m2=Commitment"))
      forgotten(trial)
      trial.wait(7_500)
      trial.hear(unknown)
      trial.wait(7_500)
      assert.deepStrictEqual(trial.hear(unknown), ["end RESOLVED", "finish"])
      assert.strictEqual(trial.status, "completed")
    })

    it("is lost when it is suspended", () => {
      const trial = forgotten(suspended())
      trial.wait(7_500)
      trial.hear(unknown)
      trial.wait(7_500)
      assert.deepStrictEqual(trial.hear(unknown), lost(15_000))
    })
  })

  it("is asked for half a second after a Commitment, and again although it was looked at meanwhile", () => {
    const trial = following()
    trial.hear(frames(1, "m1", "m2=Commitment"))
    trial.wait(400)
    assert.deepStrictEqual(trial.hear(check), ["ask ended"])
    assert.isFalse(trial.isPatient)
    trial.hear(answer("ended", session("OPEN")))
    assert.deepStrictEqual(trial.wait(99), [])
    assert.deepStrictEqual(trial.wait(1), ["ask ended"])
    assert.isFalse(trial.isPatient)
  })
})
