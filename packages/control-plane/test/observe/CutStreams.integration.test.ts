import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { Observers } from "../../src/observe/Observers.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"
import { accept, envelopes, messagesOf, openSession, runningRun } from "./ScriptedDecision.ts"

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("the observer of a stream", (it) => {
  it.effect("loses and repeats nothing when the stream is cut after every single frame", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.cutAfter({ method: "StreamSession", sessionId: runId, times: 4 }, 1, "ABORTED")
      yield* openSession(runId)
      yield* accept(runId)
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3", "m4"])
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("announces each reconnection and continues after the stored ordinal", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* accept(runId, 0, 2)
      yield* awaitEvent(runId, "proposal.created")
      yield* fake.cut("StreamSession", { sessionId: runId, reason: "UNAVAILABLE" })
      yield* fake.awaitOpenStreams("StreamSession", 0, runId)
      yield* accept(runId, 2)
      const { decoded } = yield* awaitEvent(runId, "decision.finalized")
      assert.deepStrictEqual(
        decoded.filter((event) => event.type === "session.stream.opened").map((event) => event.recorded.data["status"]),
        ["opened", "reconnecting"]
      )
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3", "m4"])
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("marks a gap and ends by asking when the history was compacted", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* openSession(runId)
      yield* accept(runId)
      yield* fake.transition(runId, "RESOLVED")
      yield* fake.compact(runId)
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "completed")
      const { decoded, state } = yield* assertLogIsExact(runId)
      assert.isTrue(
        decoded.some((event) => event.type === "session.stream.opened" && event.recorded.data["status"] === "gap")
      )
      assert.include(state, `"historyGap":true`)
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("drops frames of other sessions and repeated envelopes", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun
      yield* accept(runId, 0, 2)
      const [first] = (yield* awaitEvent(runId, "proposal.created")).raw
      assert.isDefined(first)
      const again = { macpVersion: "1.0", mode: "macp.mode.decision.v1", timestampUnixMs: 0, ...envelopes[1] }
      yield* fake.deliver(runId, { _tag: "Envelope", envelope: { ...again, messageId: "x", sessionId: "another" } })
      yield* fake.deliver(runId, { _tag: "Envelope", envelope: { ...again, messageId: "m2", sessionId: runId } })
      yield* accept(runId, 2)
      yield* awaitEvent(runId, "decision.finalized")
      assert.deepStrictEqual(yield* messagesOf(runId), ["m1", "m2", "m3", "m4"])
    }).pipe(Effect.provide(layerTestObservation()))
  )
})
