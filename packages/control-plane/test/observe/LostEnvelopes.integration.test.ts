import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { RunRepository } from "../../src/event-log/runs/RunRepository.ts"
import { Observers } from "../../src/observe/Observers.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const LEAD = "agent://lead"

/** A run that is subscribed to its open session. */
const runningRun = Effect.gen(function* () {
  const runId = yield* createRun()
  yield* RuntimeFake.use((fake) => fake.openSession({ sessionId: runId, participants: [LEAD], initiator: LEAD }))
  yield* (yield* Observers).adopt(runId)
  yield* awaitStatus(runId, "running")
  yield* RuntimeFake.use((fake) => fake.awaitOpenStreams("StreamSession", 1, runId))
  return runId
})

/** The types of the session's next messages; their ids are m1, m2 and so on. */
const accept = (runId: RunId, ...types: ReadonlyArray<string>) =>
  Effect.forEach(types, (messageType) => RuntimeFake.use((fake) => fake.accept(runId, { messageType, sender: LEAD })), {
    discard: true
  })

/** The watch reports the end, with the number of accepted messages beside the SessionStart. */
const announceEnd = Effect.fnUntraced(function* (runId: RunId, messageCount: number) {
  const fake = yield* RuntimeFake
  const session = yield* fake.client.getSession(runId)
  const participantActivity = [{ participantId: LEAD, lastMessageAtUnixMs: 0, messageCount }]
  yield* fake.setState(runId, "RESOLVED")
  yield* fake.announce({
    type: "RESOLVED",
    observedAtUnixMs: 0,
    session: { ...session, state: "RESOLVED", participantActivity }
  })
})

const received = (runId: RunId, messageId: string) =>
  awaitEvent(runId, "message.received", (data) => data["messageId"] === messageId)

const messagesOf = Effect.fnUntraced(function* (runId: RunId) {
  return (yield* assertLogIsExact(runId)).decoded
    .filter((event) => event.type === "message.received")
    .map((event) => event.recorded.data["messageId"])
})

const gapsOf = Effect.fnUntraced(function* (runId: RunId) {
  return (yield* assertLogIsExact(runId)).decoded.filter(
    (event) => event.type === "session.stream.opened" && event.recorded.data["status"] === "gap"
  )
})

const REAL_CLOCK = { excludeTestServices: true, timeout: "60 seconds" } as const

layer(layerTestDatabase, REAL_CLOCK)("an observer that misses envelopes", (it) => {
  it.effect("finds those that were lost on their way by reading the history again when the session has ended", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* accept(runId, "SessionStart")
      yield* received(runId, "m1")
      // The third message arrives although the second is lost.
      const third = { macpVersion: "1.0", mode: "macp.mode.decision.v1", timestampUnixMs: 0, payload: new Uint8Array() }
      const envelope = { ...third, messageType: "Vote", messageId: "m3", sessionId: runId, sender: LEAD }
      yield* fake.deliver(runId, { _tag: "Envelope", envelope })
      yield* received(runId, "m3")
      yield* fake.hang({ method: "StreamSession", sessionId: runId })
      yield* fake.cut("StreamSession", { sessionId: runId, reason: "ABORTED" })
      yield* accept(runId, "Proposal", "Vote", "Commitment")
      yield* announceEnd(runId, 3)
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m3", "m2", "m4"])
      assert.deepStrictEqual(yield* gapsOf(runId), [])
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("marks a gap when the runtime has counted more than it delivers", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      yield* accept(runId, "SessionStart", "Proposal", "Commitment")
      yield* announceEnd(runId, 5)
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3"])
      const [gap, ...more] = yield* gapsOf(runId)
      assert.strictEqual(gap?.recorded.data["detail"], "the session ended after 6 envelopes, of which 3 were received")
      assert.lengthOf(more, 0)
      assert.include((yield* assertLogIsExact(runId)).state, `"historyGap":true`)
      const found = yield* RunRepository.use((runs) => runs.find(runId))
      assert.strictEqual(found?.record.historyGap, true)
    }).pipe(Effect.provide([layerTestObservation(), RunRepository.layer]))
  )

  it.effect("waits for the Commitment although the runtime's own messages make the history longer", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      yield* accept(runId, "SessionStart", "Proposal", "SessionSuspend", "SessionResume")
      yield* received(runId, "m4")
      yield* announceEnd(runId, 2)
      yield* accept(runId, "Commitment")
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3", "m4", "m5"])
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("does not take a signal for the envelope that has the same id", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* fake.awaitOpenStreams("WatchSignals", 1)
      yield* fake.signal({ messageType: "Signal", messageId: "m2", sessionId: runId, sender: LEAD })
      yield* received(runId, "m2")
      yield* accept(runId, "SessionStart", "Proposal", "Commitment")
      yield* announceEnd(runId, 2)
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m2", "m1", "m2", "m3"])
      assert.deepStrictEqual(yield* gapsOf(runId), [])
    }).pipe(Effect.provide(layerTestObservation()))
  )
})
