import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { Observers } from "../../../src/observe/Observers.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

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
  // docs/internals/runtime.md#idle-sessions
  it.effect("wait while one listing confirms their sessions, and find a change without a notice", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const [first, ...others] = yield* Effect.all(
        Array.from({ length: 50 }, () => quietRun),
        { concurrency: 8 }
      )
      if (first === undefined) return assert.fail("a run is missing")
      const calls = (name: string) => Effect.map(fake.calls, (all) => all.filter(({ method }) => method === name))
      /** Whether no session is queried while so many listings are read. */
      const isRest = Effect.fnUntraced(function* (count: number) {
        const before = (yield* calls("GetSession")).length
        yield* fake.awaitCalls("ListSessions", (yield* calls("ListSessions")).length + count)
        return (yield* calls("GetSession")).length === before
      })
      // Those that became quiet at another time than most ask by themselves before they are compared with them.
      yield* Effect.repeat(isRest(3), { until: (rest) => rest })
      assert.strictEqual(yield* fake.openStreams("StreamSession"), 50)

      const before = (yield* calls("GetSession")).length
      yield* fake.setState(first, "CANCELLED")
      yield* awaitStatus(first, "cancelled")
      const asked = (yield* calls("GetSession")).slice(before)
      assert.isTrue(asked.every(({ sessionId }) => sessionId === first))
      for (const runId of others) yield* awaitStatus(runId, "running")
    }).pipe(Effect.provide(layerTestObservation({ streamIdleTimeoutMs: 2_000 })))
  )
})
