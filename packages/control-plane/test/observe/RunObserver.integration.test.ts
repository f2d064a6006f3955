import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { Observers } from "../../src/observe/Observers.ts"
import { endRun } from "../support/EndedRuns.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"
import { accept, adoptNew, messagesOf, openSession, runningRun, typesOf } from "./ScriptedDecision.ts"

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("RunObserver", (it) => {
  it.effect("takes a run from queued to completed with the events in the specified order", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* accept(runId)
      yield* awaitEvent(runId, "decision.finalized")
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* typesOf(runId), [
        "run.created",
        "run.started",
        "session.bound",
        "participant.seen",
        "participant.seen",
        "session.stream.opened",
        "session.state.changed",
        "artifact.created",
        "message.received",
        "message.received",
        "proposal.created",
        "message.received",
        "proposal.updated",
        "message.received",
        "decision.finalized",
        "session.state.changed",
        "session.stream.opened",
        "run.completed"
      ])
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("waits through NOT_FOUND and an unreachable runtime until the initiator opens the session", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.setAvailable(false)
      const runId = yield* adoptNew
      yield* fake.awaitCalls("Initialize", 1)
      yield* fake.setAvailable(true)
      yield* fake.awaitCalls("GetSession", 1)
      yield* openSession(runId)
      yield* awaitStatus(runId, "running")
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("fails with RUNTIME_TIMEOUT when the session never opens", () =>
    Effect.gen(function* () {
      const runId = yield* adoptNew
      yield* awaitStatus(runId, "failed")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.strictEqual(decoded.at(-1)?.recorded.data["errorCode"], "RUNTIME_TIMEOUT")
    }).pipe(Effect.provide(layerTestObservation({ sessionPollTimeoutMs: 100 })))
  )

  it.effect("waits no longer for the session of a run that was ended meanwhile", () =>
    Effect.gen(function* () {
      const runId = yield* adoptNew
      yield* awaitStatus(runId, "starting")
      yield* endRun(runId)
      const { active } = yield* Observers
      yield* Effect.repeat(active, { until: (count) => count === 0, schedule: Schedule.spaced("5 millis") })
      yield* assertLogIsExact(runId)
      // No poll and no time-out can be what ended the observer.
    }).pipe(Effect.provide(layerTestObservation({ sessionPollBaseMs: 600_000, sessionPollMaxMs: 600_000 })))
  )

  it.effect("fails at once, with the runtime's text, when it may not read the session", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.fail({ method: "GetSession", sessionId: runId }, "PERMISSION_DENIED", "caller is not an observer")
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "failed")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.strictEqual(decoded.at(-1)?.recorded.data["errorCode"], "FORBIDDEN")
      assert.strictEqual(decoded.at(-1)?.recorded.data["error"], "caller is not an observer")
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("fails when it may read the session but not subscribe to it", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* openSession(runId)
      const always = { method: "StreamSession", sessionId: runId, times: 10 } as const
      yield* fake.fail(always, "PERMISSION_DENIED", "caller is not a participant")
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "failed")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.strictEqual(decoded.at(-1)?.recorded.data["errorCode"], "FORBIDDEN")
      assert.strictEqual(decoded.at(-1)?.recorded.data["error"], "caller is not a participant")
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("backfills a session that was resolved before the first poll", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* openSession(runId)
      yield* accept(runId)
      yield* fake.transition(runId, "RESOLVED")
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "completed")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual(
        decoded.filter((event) => event.type === "session.state.changed").map((event) => event.recorded.data["state"]),
        ["RESOLVED"]
      )
      assert.isTrue(decoded.some((event) => event.type === "decision.finalized"))
    }).pipe(Effect.provide(layerTestObservation()))
  )

  for (const [ending, status] of [
    ["EXPIRED", "failed"],
    ["CANCELLED", "cancelled"]
  ] as const) {
    it.effect(`reads the history of a session that was ${ending} before the attach, and makes its run ${status}`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* createRun()
        yield* openSession(runId)
        yield* accept(runId, 0, 3)
        yield* fake.transition(runId, ending)
        yield* (yield* Observers).adopt(runId)
        yield* awaitStatus(runId, status)
        assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3"])
      }).pipe(Effect.provide(layerTestObservation()))
    )

    it.effect(`makes a running run ${status} when its session is ${ending}`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* runningRun
        yield* fake.transition(runId, ending)
        yield* awaitStatus(runId, status)
        const last = (yield* assertLogIsExact(runId)).decoded.at(-1)
        assert.strictEqual(last?.type, `run.${status}`)
        if (ending === "EXPIRED") {
          assert.strictEqual(last?.recorded.data["errorCode"], "SESSION_EXPIRED")
          assert.strictEqual(last?.recorded.data["error"], "runtime session expired")
        }
      }).pipe(Effect.provide(layerTestObservation()))
    )
  }

  it.effect("follows suspension and resumption that the runtime reports", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* fake.transition(runId, "SUSPENDED")
      yield* awaitStatus(runId, "suspended")
      yield* fake.transition(runId, "RESUMED")
      yield* awaitStatus(runId, "running")
      const types = yield* typesOf(runId)
      assert.isTrue(types.includes("run.suspended") && types.includes("run.resumed"))
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("suspends a run that attaches to a suspended session", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* openSession(runId)
      yield* fake.transition(runId, "SUSPENDED")
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "suspended")
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("waits for the Commitment when RESOLVED is announced before it", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* accept(runId, 0, 3)
      yield* awaitEvent(runId, "proposal.updated")
      const session = yield* fake.client.getSession(runId)
      yield* fake.announce({
        type: "RESOLVED",
        observedAtUnixMs: 0,
        session: {
          ...session,
          state: "RESOLVED",
          participantActivity: [{ participantId: "agent://lead", lastMessageAtUnixMs: 0, messageCount: 3 }]
        }
      })
      yield* accept(runId, 3)
      yield* awaitStatus(runId, "completed")
      const types = yield* typesOf(runId)
      assert.isBelow(types.indexOf("decision.finalized"), types.indexOf("run.completed"))
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("fails a run as expired whose session the runtime has forgotten, once its deadline has passed", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      const deadline = (yield* Clock.currentTimeMillis) + 500
      yield* fake.openSession({ sessionId: runId, expiresAtUnixMs: deadline })
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.evict(runId)
      yield* fake.cut("StreamSession", { sessionId: runId, reason: "ABORTED" })
      yield* awaitStatus(runId, "failed")
      const last = (yield* assertLogIsExact(runId)).decoded.at(-1)
      assert.strictEqual(last?.recorded.data["errorCode"], "SESSION_EXPIRED")
      assert.isAtLeast(Date.parse(last?.ts ?? ""), deadline)
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("fails a run with SESSION_LOST whose session the runtime has forgotten long before its deadline", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.openSession({ sessionId: runId, expiresAtUnixMs: Number.MAX_SAFE_INTEGER })
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.evict(runId)
      yield* fake.cut("StreamSession", { sessionId: runId, reason: "ABORTED" })
      yield* awaitStatus(runId, "failed")
      const last = (yield* assertLogIsExact(runId)).decoded.at(-1)
      assert.strictEqual(last?.recorded.data["errorCode"], "SESSION_LOST")
    }).pipe(Effect.provide(layerTestObservation({ sessionLostAfterMs: 200 })))
  )

  it.effect("binds a session whose deadline is beyond any date", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.openSession({ sessionId: runId, expiresAtUnixMs: Number.MAX_SAFE_INTEGER })
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("keeps watching a silent session while the runtime is away, and ends it when the runtime is back", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      const before = (yield* fake.calls).filter(({ method }) => method === "StreamSession").length
      yield* fake.setAvailable(false)
      // More than the attempts after which the observer queries the session.
      yield* fake.awaitCalls("StreamSession", before + 5)
      yield* fake.awaitCalls("GetSession", 15)
      yield* fake.setAvailable(true)
      yield* accept(runId)
      yield* fake.setState(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3", "m4"])
    }).pipe(Effect.provide(layerTestObservation({ streamIdleTimeoutMs: 500 })))
  )
})
