import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { Observers } from "../../../src/observe/Observers.ts"
import { EarlySubscriptions } from "../../../src/observe/sessions/EarlySubscriptions.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { awaitStatus, layerTestObservation } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

/** A session that has ended, and whose history is dropped, before it has an observer. */
const shortSession = Effect.fnUntraced(function* (sessionId: string) {
  const fake = yield* RuntimeFake
  yield* fake.awaitOpenStreams("WatchSessions", 1)
  yield* fake.openSession({ sessionId, participants: ["agent://lead"], initiator: "agent://lead" })
  yield* fake.awaitOpenStreams("StreamSession", 1, sessionId)
  for (const messageType of ["SessionStart", "Proposal", "Vote", "Commitment"]) {
    yield* fake.accept(sessionId, { messageType, sender: "agent://lead" })
  }
  yield* fake.transition(sessionId, "RESOLVED")
  yield* fake.compact(sessionId)
})

const assertWhole = Effect.fnUntraced(function* (runId: RunId) {
  const { decoded } = yield* assertLogIsExact(runId)
  const data = decoded.map(({ recorded }) => recorded.data)
  assert.deepStrictEqual(
    data.flatMap(({ messageType }, position) => (decoded[position]?.type === "message.received" ? [messageType] : [])),
    ["SessionStart", "Proposal", "Vote", "Commitment"]
  )
  assert.notInclude(
    data.map(({ status }) => status),
    "gap"
  )
})

/** Follows a session until so many frames were delivered. */
const followUntil = Effect.fnUntraced(function* (sessionId: string, count: number) {
  const early = yield* EarlySubscriptions
  const delivered = yield* Deferred.make<void>()
  let frames = 0
  const follow = early.follow(sessionId, 0, (arrived) => {
    frames += arrived.length
    return frames < count ? Effect.void : Deferred.succeed(delivered, undefined)
  })
  yield* Effect.raceFirst(follow, Deferred.await(delivered))
  assert.strictEqual(frames, count)
})

const layerEarly = EarlySubscriptions.layer.pipe(
  Layer.provide(ObserverSettings.layerFrom({})),
  Layer.provideMerge(Layer.fresh(RuntimeFake.layer))
)

// docs/internals/runtime.md#early-subscription
layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("a short session", (it) => {
  it.effect("is in the log as a whole although it was over before its run was observed", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* shortSession(runId)
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "completed")
      yield* assertWhole(runId)
      assert.strictEqual((yield* fake.calls).filter(({ method }) => method === "StreamSession").length, 1)
      yield* fake.awaitOpenStreams("StreamSession", 0)
    }).pipe(Effect.provide(layerTestObservation({ recoveryEnabled: false })))
  )

  it.effect("is in the log as a whole without a POST of its run", () =>
    Effect.gen(function* () {
      const runId = RunId.make(randomUUID())
      yield* shortSession(runId)
      yield* awaitStatus(runId, "completed")
      yield* assertWhole(runId)
    }).pipe(Effect.provide(layerTestObservation({ discoveryGraceMs: 200 })))
  )

  it.effect("is one of so many that are held at a time, and not for ever", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.awaitOpenStreams("WatchSessions", 1)
      const runs = yield* Effect.replicateEffect(createRun(), 130)
      yield* Effect.forEach(runs, (sessionId) => fake.openSession({ sessionId }), { discard: true })
      yield* fake.awaitOpenStreams("StreamSession", 128)
      assert.strictEqual((yield* fake.calls).filter(({ method }) => method === "StreamSession").length, 128)
      yield* until(fake.openStreams("StreamSession"), (open) => open === 0)
    }).pipe(Effect.provide(layerTestObservation({ recoveryEnabled: false })))
  )

  it.effect("is subscribed to when it is opened although an attempt from before that has failed", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const early = yield* EarlySubscriptions
      const sessionId = randomUUID()
      const failure = yield* Effect.flip(early.follow(sessionId, 0, () => Effect.void))
      assert.strictEqual(failure.reason, "NOT_FOUND")
      yield* early.open(yield* fake.openSession({ sessionId }))
      yield* fake.awaitOpenStreams("StreamSession", 1, sessionId)
      yield* fake.accept(sessionId, { messageType: "SessionStart" })
      yield* followUntil(sessionId, 1)
    }).pipe(Effect.provide(layerEarly))
  )

  it.effect("is read by its own subscription although an attempt from before that never returns", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const early = yield* EarlySubscriptions
      for (const moment of ["before", "after"] as const) {
        const sessionId = randomUUID()
        yield* fake.hang({ method: "StreamSession", sessionId })
        const followed = yield* Effect.forkChild(followUntil(sessionId, 2))
        const asked = fake.calls.pipe(
          Effect.map((calls) => calls.filter((call) => call.sessionId === sessionId).length)
        )
        yield* until(asked, (count) => count === 1)
        const session = yield* fake.openSession({ sessionId })
        if (moment === "before") yield* fake.accept(sessionId, { messageType: "SessionStart" })
        yield* early.open(session)
        yield* fake.awaitOpenStreams("StreamSession", 1, sessionId)
        if (moment === "after") yield* fake.accept(sessionId, { messageType: "SessionStart" })
        yield* fake.accept(sessionId, { messageType: "Commitment" })
        yield* Fiber.join(followed)
        early.leave(sessionId)
      }
    }).pipe(Effect.provide(layerEarly))
  )
})
