import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { Observers } from "../../src/observe/Observers.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const PARTICIPANTS = ["agent://lead", "agent://risk"]

const openSession = (runId: RunId) =>
  RuntimeFake.use((fake) =>
    fake.openSession({ sessionId: runId, participants: PARTICIPANTS, initiator: "agent://lead" })
  )

const accept = (runId: RunId) =>
  Effect.forEach(
    ["SessionStart", "Proposal", "Vote", "Commitment"],
    (messageType) => RuntimeFake.use((fake) => fake.accept(runId, { messageType, sender: "agent://lead" })),
    { discard: true }
  )

/** A run that is observed before its session exists. */
const waitingRun = Effect.gen(function* () {
  const runId = yield* createRun()
  yield* (yield* Observers).adopt(runId)
  return runId
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("a run around its binding", (it) => {
  it.effect("binds a run and lets it run in one transaction", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* waitingRun
      yield* openSession(runId)
      yield* awaitStatus(runId, "running")
      const found = yield* sql<{ readonly types: string }>`
        SELECT string_agg(type, ' ' ORDER BY index) AS types FROM canonical_events
        WHERE run_id = ${runId}::uuid GROUP BY xmin::text ORDER BY min(index)`
      assert.deepStrictEqual(
        found.map(({ types }) => types),
        [
          "run.created",
          "run.started",
          "session.bound participant.seen participant.seen session.stream.opened session.state.changed artifact.created"
        ]
      )
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("stores a resumption although the session ends right after it", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* waitingRun
      yield* openSession(runId)
      yield* accept(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.transition(runId, "SUSPENDED")
      yield* awaitStatus(runId, "suspended")
      yield* fake.transition(runId, "RESUMED")
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      const types = (yield* assertLogIsExact(runId)).decoded.map(({ type }) => type)
      assert.isAbove(types.indexOf("run.resumed"), types.indexOf("run.suspended"))
      assert.isBelow(types.indexOf("run.resumed"), types.indexOf("run.completed"))
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("sees each participant once, in the declared order, although a signal came before the binding", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.awaitOpenStreams("WatchSignals", 1)
      yield* fake.signal({ messageType: "Signal", messageId: "s1", sessionId: runId, sender: "agent://risk" })
      yield* awaitEvent(runId, "message.received")
      yield* openSession(runId)
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      const { decoded, state } = yield* assertLogIsExact(runId)
      const seen = decoded.filter(({ type }) => type === "participant.seen").map(({ subject }) => subject?.id)
      assert.deepStrictEqual(seen, ["agent://risk", "agent://lead"])
      const { participants } = JSON.parse(state)
      assert.deepStrictEqual(
        participants.map(({ participantId }: { readonly participantId: string }) => participantId),
        PARTICIPANTS
      )
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("puts the policy of the session on record, before anything that it governs", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const rules = { voting: { algorithm: "majority" } }
      yield* fake.client.registerPolicy({
        policyId: "p.main",
        mode: "macp.mode.decision.v1",
        schemaVersion: 3,
        description: "main",
        rules: JSON.stringify(rules)
      })
      const runId = yield* waitingRun
      const policyVersion = "p.main"
      yield* fake.openSession({
        sessionId: runId,
        participants: PARTICIPANTS,
        initiator: "agent://lead",
        policyVersion
      })
      yield* accept(runId)
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      const { decoded } = yield* assertLogIsExact(runId)
      const at = decoded.findIndex(({ type }) => type === "policy.resolved")
      assert.strictEqual(decoded[at - 1]?.type, "session.bound")
      assert.deepStrictEqual(decoded[at]?.recorded.data["descriptor"], {
        policyId: "p.main",
        mode: "macp.mode.decision.v1",
        schemaVersion: 3,
        description: "main",
        rules
      })
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("binds without the policy when the runtime is slow to return it, or refuses", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.hang({ method: "GetPolicy" })
      const runId = yield* waitingRun
      yield* openSession(runId)
      yield* awaitStatus(runId, "running")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.notInclude(
        decoded.map(({ type }) => type),
        "policy.resolved"
      )
    }).pipe(Effect.provide(layerTestObservation({ policyReadTimeoutMs: 100 })))
  )

  it.effect("loses nothing of a session whose history is dropped while the run is being bound", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.awaitOpenStreams("WatchSessions", 1)
      yield* fake.delay({ method: "Initialize" }, "300 millis")
      const runId = yield* waitingRun
      yield* fake.awaitCalls("Initialize", 1)
      yield* openSession(runId)
      yield* fake.awaitOpenStreams("StreamSession", 1, runId)
      yield* accept(runId)
      yield* fake.transition(runId, "RESOLVED")
      yield* fake.compact(runId)
      yield* awaitStatus(runId, "completed")
      const { decoded } = yield* assertLogIsExact(runId)
      const messages = decoded.filter(({ type }) => type === "message.received")
      assert.deepStrictEqual(
        messages.map(({ recorded }) => recorded.data["messageId"]),
        ["m1", "m2", "m3", "m4"]
      )
    }).pipe(Effect.provide(layerTestObservation()))
  )
})
