import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { Observers } from "../../src/observe/Observers.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const AGENT = "agent://lead"

/** A run that has all of its session, of which the runtime counts one message. */
const quietRun = Effect.gen(function* () {
  const fake = yield* RuntimeFake
  const runId = yield* createRun()
  yield* fake.openSession({
    sessionId: runId,
    initiator: AGENT,
    expiresAtUnixMs: 1e15,
    participantActivity: [{ participantId: AGENT, lastMessageAtUnixMs: 1, messageCount: 1 }]
  })
  yield* (yield* Observers).adopt(runId)
  yield* awaitStatus(runId, "running")
  for (const messageType of ["SessionStart", "Proposal"]) yield* fake.accept(runId, { messageType, sender: AGENT })
  yield* awaitEvent(runId, "proposal.created")
  return runId
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("observers of quiet sessions", (it) => {
  // docs/runtime.md#quiet
  it.effect("rest while one listing says that nothing is missing, and find what nobody has told them", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const [first, ...others] = yield* Effect.all(
        Array.from({ length: 30 }, () => quietRun),
        { concurrency: 8 }
      )
      if (first === undefined) return assert.fail("there is no run")
      const asked = Effect.map(fake.calls, (calls) => calls.filter(({ method }) => method === "GetSession"))
      const before = (yield* asked).length
      const listings = (yield* fake.calls).filter(({ method }) => method === "ListSessions").length
      yield* fake.awaitCalls("ListSessions", listings + 3)
      assert.lengthOf((yield* asked).slice(before), 0)
      assert.strictEqual(yield* fake.openStreams("StreamSession"), 30)

      yield* fake.setState(first, "CANCELLED")
      yield* awaitStatus(first, "cancelled")
      assert.isTrue((yield* asked).slice(before).every(({ sessionId }) => sessionId === first))
      for (const runId of others) yield* awaitStatus(runId, "running")
    }).pipe(Effect.provide(layerTestObservation({ streamIdleTimeoutMs: 2_000 })))
  )
})
