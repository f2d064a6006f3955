import { assert, describe, it } from "@effect/vitest"
import type { RuntimeErrorReason } from "@runplane/runtime"
import { answer, check, failure, frames, identity, session, state, Trial, unreachable } from "./support/Trial.ts"

const MODE = "macp.mode.decision.v1"
const notFound = answer("opened", failure("NOT_FOUND"))

/** A run whose session does not exist yet. */
const waiting = (options = {}, run = {}) => {
  const trial = new Trial(run, options)
  trial.start()
  trial.receive(identity(MODE))
  return trial
}

describe("a run without a session", () => {
  it("is started, greets the runtime, and follows its session once that is open", () => {
    const trial = new Trial()
    assert.deepStrictEqual(trial.start(), ["start", "query identity"])
    assert.deepStrictEqual(trial.receive(identity(MODE)), ["query opened"])
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), ["subscribe 1 after 0", "bind", "run"])
    assert.strictEqual(trial.status, "running")
  })

  it("is not started again after a restart, and has all of the time again", () => {
    const trial = new Trial({ status: "starting" })
    trial.wait(1_000_000)
    assert.deepStrictEqual(trial.start(), ["query identity"])
    assert.deepStrictEqual(trial.receive(unreachable("UNAVAILABLE")), [])
    assert.strictEqual(trial.wakeAt, trial.at + 100)
  })

  for (const reason of ["NOT_FOUND", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CIRCUIT_BREAKER_OPEN", "INTERNAL"] as const) {
    it(`waits through ${reason}, longer each time`, () => {
      const trial = waiting()
      for (const pause of [100, 200, 400, 800, 1_000, 1_000]) {
        assert.deepStrictEqual(trial.receive(answer("opened", failure(reason))), [])
        assert.deepStrictEqual(trial.wait(pause - 1), [])
        assert.deepStrictEqual(trial.wait(1), ["query opened"])
      }
    })
  }

  it("waits for a state that means something", () => {
    const trial = waiting()
    assert.deepStrictEqual(trial.receive(answer("opened", session("UNSPECIFIED"))), [])
    assert.deepStrictEqual(trial.wait(100), ["query opened"])
  })

  it("counts the pauses of both questions together", () => {
    const trial = new Trial()
    trial.start()
    trial.receive(unreachable("UNAVAILABLE"))
    assert.deepStrictEqual(trial.wait(100), ["query identity"])
    trial.receive(identity(), notFound)
    assert.deepStrictEqual(trial.wait(199), [])
    assert.deepStrictEqual(trial.wait(1), ["query opened"])
  })

  for (const [reason, why] of [
    ["NOT_FOUND", ""],
    ["UNAVAILABLE", ": no route"]
  ] as const) {
    it(`fails with RUNTIME_TIMEOUT when the time is over and the runtime says ${reason}`, () => {
      const trial = waiting({ sessionPollTimeoutMs: 250 })
      const asked = answer("opened", failure(reason, "no route"))
      trial.receive(asked)
      trial.wait(100)
      trial.receive(asked)
      // The last pause ends with the time that is left.
      assert.deepStrictEqual(trial.wait(150), ["query opened"])
      assert.deepStrictEqual(trial.receive(asked), [
        `fail RUNTIME_TIMEOUT: session the-session was not opened within 250 ms${why}`,
        "finish"
      ])
    })
  }

  it("names the participants that did not open the session", () => {
    const trial = waiting({ sessionPollTimeoutMs: 100 }, { awaited: "lead, risk" })
    trial.receive(answer("opened", failure("NOT_FOUND")))
    trial.wait(100)
    const by = "by any of its participants (lead, risk)"
    assert.deepStrictEqual(trial.receive(answer("opened", failure("NOT_FOUND"))), [
      `fail RUNTIME_TIMEOUT: session the-session was not opened within 100 ms ${by}`,
      "finish"
    ])
  })

  const REFUSALS: ReadonlyArray<readonly [RuntimeErrorReason, string, string]> = [
    ["PERMISSION_DENIED", "caller is not an observer", "FORBIDDEN"],
    ["UNAUTHENTICATED", "who are you", "UNAUTHENTICATED"],
    ["INVALID_ARGUMENT", "bad id", "VALIDATION_ERROR"],
    ["UNIMPLEMENTED", "no such call", "NOT_IMPLEMENTED"],
    ["FAILED_PRECONDITION", "UNKNOWN_POLICY_VERSION: p9", "UNKNOWN_POLICY_VERSION"],
    ["PERMISSION_DENIED", "POLICY_DENIED by the policy", "POLICY_DENIED"],
    ["INTERNAL", "INVALID_POLICY_DEFINITION", "INVALID_POLICY_DEFINITION"],
    ["ALREADY_EXISTS", "SESSION_ALREADY_EXISTS", "SESSION_ALREADY_EXISTS"]
  ]
  for (const [reason, text, code] of REFUSALS) {
    it(`fails at once with ${code} when the runtime says ${reason}: ${text}`, () => {
      const greeting = new Trial()
      greeting.start()
      assert.deepStrictEqual(greeting.receive(unreachable(reason, text)), [`fail ${code}: ${text}`, "finish"])
      assert.deepStrictEqual(waiting().receive(answer("opened", failure(reason, text))), [
        `fail ${code}: ${text}`,
        "finish"
      ])
    })
  }

  it("fails with MODE_NOT_SUPPORTED when the runtime names modes, and not this one", () => {
    const trial = new Trial()
    trial.start()
    assert.deepStrictEqual(trial.receive(identity("a", "b")), [
      `fail MODE_NOT_SUPPORTED: Runtime does not support mode '${MODE}'. Supported: a, b`,
      "finish"
    ])
  })

  it("queries a runtime without modes", () => {
    const trial = new Trial()
    trial.start()
    assert.deepStrictEqual(trial.receive(identity()), ["query opened"])
  })

  for (const [ended, status] of [
    ["EXPIRED", "failed"],
    ["CANCELLED", "cancelled"]
  ] as const) {
    it(`is bound to a session that is ${ended} already, and ${status} once its history is read`, () => {
      const trial = waiting()
      assert.deepStrictEqual(trial.receive(answer("opened", session(ended, 2))), ["subscribe 1 after 0", "bind", "run"])
      assert.deepStrictEqual(trial.receive(frames(1, "m1", "m2")), ["store m1 m2 after 0"])
      trial.receive(frames(1, "m3"))
      trial.wait(100)
      assert.strictEqual(trial.status, status)
      assert.strictEqual(trial.cursor, 3)
    })
  }

  it("is bound to a session that is resolved already, for its history", () => {
    const trial = waiting()
    assert.deepStrictEqual(trial.receive(answer("opened", session("RESOLVED", 3))), [
      "subscribe 1 after 0",
      "bind",
      "run"
    ])
  })

  it("is bound to a suspended session, runs, and is suspended once the runtime has confirmed it", () => {
    const trial = waiting()
    assert.deepStrictEqual(trial.receive(answer("opened", session("SUSPENDED"))), [
      "subscribe 1 after 0",
      "bind",
      "run",
      "query paused"
    ])
    assert.deepStrictEqual(trial.receive(answer("paused", session("SUSPENDED"))), ["suspend"])
    assert.strictEqual(trial.status, "suspended")
  })

  it("is bound at once when the watch reports the session, also while a query is pending", () => {
    for (const moment of ["paused", "querying"]) {
      const trial = waiting()
      if (moment === "paused") trial.receive(notFound)
      assert.deepStrictEqual(trial.receive(state(session("OPEN"))), ["subscribe 1 after 0", "bind", "run"])
      assert.deepStrictEqual(trial.receive(notFound, answer("opened", session("OPEN"))), [])
    }
  })

  describe("reads the session's policy before it is bound", () => {
    const DEFAULT = "policy.default"
    const untold = { _tag: "Policy", policy: undefined } as const
    const reading = (policyVersion = "p.main") => {
      const trial = waiting()
      trial.policy = "late"
      const found = session("OPEN", 0, { policyVersion })
      assert.deepStrictEqual(trial.receive(answer("opened", found)).at(-1), `query policy ${policyVersion || DEFAULT}`)
      return trial
    }

    it("and continues without it when the runtime does not return it", () => {
      for (const policyVersion of ["p.main", ""]) {
        assert.deepStrictEqual(reading(policyVersion).receive(untold), ["bind", "run"])
      }
    })

    it("with the state that the watch has announced meanwhile", () => {
      const trial = reading()
      trial.receive(frames(1, "m1"), state(session("CANCELLED", 0)))
      assert.deepStrictEqual(trial.receive(untold).slice(0, 3), ["bind", "run", "store m1 after 0"])
      trial.wait(1_000)
      assert.strictEqual(trial.status, "cancelled")
    })

    it("and queries the session when updates were missed meanwhile", () => {
      const trial = reading()
      assert.deepStrictEqual(trial.receive(check), [])
      assert.deepStrictEqual(trial.receive(untold), ["bind", "run", "query ended"])
    })

    it("unless the run is cancelled meanwhile", () => {
      const trial = reading()
      trial.status = "cancelled"
      assert.deepStrictEqual(trial.receive(check), ["finish"])
      assert.deepStrictEqual(trial.receive(untold), [])
    })
  })

  it("queries the session when the watch reports it without a state", () => {
    const trial = waiting()
    assert.deepStrictEqual(trial.receive(state(session("UNSPECIFIED"))), [])
    assert.deepStrictEqual(trial.receive(notFound), ["query opened"])
    assert.deepStrictEqual(trial.receive(notFound), [])
  })

  for (const what of ["paused", "asking"] as const) {
    const wait = () => {
      const trial = waiting()
      if (what === "paused") trial.receive(notFound)
      return trial
    }
    it(`waits no longer when the run was cancelled meanwhile, while it is ${what}`, () => {
      const trial = wait()
      trial.status = "cancelled"
      assert.deepStrictEqual(trial.receive(check), ["finish"])
    })

    it(`waits no longer when the run was deleted meanwhile, while it is ${what}`, () => {
      const trial = wait()
      trial.deleted = true
      assert.deepStrictEqual(trial.receive(check), ["finish"])
    })

    it(`queries the session when updates were missed, while it is ${what}`, () => {
      const trial = wait()
      const now = trial.receive(check)
      assert.deepStrictEqual(what === "paused" ? now : [...now, ...trial.receive(notFound)], ["query opened"])
    })
  }

  it("waits for nothing when the run was cancelled before it could be started", () => {
    const trial = new Trial()
    trial.status = "cancelled"
    assert.deepStrictEqual(trial.start(), ["start", "finish"])
    assert.strictEqual(trial.status, "cancelled")
  })

  it("is not followed when the run was cancelled before it could be bound", () => {
    const trial = waiting()
    trial.status = "cancelled"
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), [
      "subscribe 1 after 0",
      "bind",
      "run",
      "finish"
    ])
    assert.strictEqual(trial.status, "cancelled")
  })

  it("is left alone when it was deleted before it could be bound", () => {
    const trial = waiting()
    trial.deleted = true
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), [
      "subscribe 1 after 0",
      "bind",
      "run",
      "finish"
    ])
  })

  it("reads the annotations of the runtime when another observer has stored envelopes already", () => {
    const trial = waiting()
    trial.cursor = 3
    assert.deepStrictEqual(trial.receive(answer("opened", session("OPEN"))), [
      "subscribe 1 after 0",
      "bind",
      "run",
      "read annotations",
      "subscribe 2 after 3"
    ])
  })
})
