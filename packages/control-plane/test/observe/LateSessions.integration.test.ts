import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { Observers } from "../../src/observe/Observers.ts"
import { SessionDiscovery } from "../../src/observe/SessionDiscovery.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerTestAdministration } from "../support/ControlPlane.ts"
import { awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun, removeRuns } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const runsOf = Effect.fnUntraced(function* (sessionId: string) {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly id: string; readonly status: string; readonly metadata: Record<string, unknown> }>`
    SELECT id::text AS id, status, metadata FROM runs WHERE runtime_session_id = ${sessionId} ORDER BY created_at`
})

/** The watch never opens: whatever is found is found by the reconciliation, which the test runs. */
const deaf = Effect.flatMap(RuntimeFake, ({ hang }) => hang({ method: "WatchSessions", times: 1_000 }))

/** Sessions that open late, are missed, or have lost their run. */
layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("a session", (it) => {
  for (const kind of ["a UUID", "another id"] as const) {
    it.effect(`that opens after its run gave it up gets a run of its own, linked to that one (${kind})`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const id = yield* (yield* Ids).uuid
        const sessionId = kind === "a UUID" ? id : `session-of-${id}`
        const request = {
          mode: "live",
          runtime: { kind: "fake" },
          session: {
            sessionId,
            modeName: "macp.mode.decision.v1",
            modeVersion: "1.0.0",
            configurationVersion: "config.default",
            ttlMs: 60_000,
            participants: [{ id: "agent://a" }],
            metadata: { scenarioRef: "ops/late@1.0.0" }
          },
          execution: { idempotencyKey: id, tags: ["asked"] }
        }
        const early = yield* createRun({ id, sessionId, metadata: { executionRequest: request } })
        yield* (yield* Observers).adopt(early)
        yield* awaitStatus(early, "failed")
        yield* fake.openSession({ sessionId, participants: ["agent://a"], initiator: "agent://a" })
        const runs = yield* until(runsOf(sessionId), (found) => found.length === 2)
        const late = runs.find((run) => run.id !== id)
        assert.isDefined(late)
        yield* awaitStatus(RunId.make(late.id), "running")
        assert.strictEqual(late.metadata["earlierRunId"], early)
        assert.strictEqual(late.metadata["scenarioRef"], "ops/late@1.0.0")
        const [first] = yield* until(runsOf(sessionId), ([earlier]) => earlier?.metadata["laterRunId"] !== undefined)
        assert.strictEqual(first?.metadata["laterRunId"], late.id)
        assert.strictEqual((yield* (yield* ObservedRuns).ofSessions([sessionId])).get(sessionId)?.runId, late.id)

        // A second notice finds the run.
        yield* fake.cut("WatchSessions")
        yield* fake.awaitCalls("WatchSessions", 2)
        yield* (yield* SessionDiscovery).reconcile
        yield* fake.transition(sessionId, "RESOLVED")
        yield* awaitStatus(RunId.make(late.id), "completed")
        assert.lengthOf(yield* runsOf(sessionId), 2)
      }).pipe(
        Effect.provide(ObservedRuns.layer),
        Effect.provide(layerTestObservation({ sessionPollTimeoutMs: 50, reconcileIntervalMs: 0 }))
      )
    )
  }

  it.effect("that the watch has missed is found by the reconciliation, page after page", () =>
    Effect.gen(function* () {
      yield* deaf
      const fake = yield* RuntimeFake
      const ids = yield* (yield* Ids).uuids(250)
      for (const sessionId of ids) yield* fake.openSession({ sessionId, state: "SUSPENDED" })
      yield* (yield* SessionDiscovery).reconcile
      const sql = yield* PgClient.PgClient
      const made = sql<{ readonly id: string }>`
        SELECT runtime_session_id AS id FROM runs WHERE runtime_session_id = ANY(${ids}::text[])`
      assert.deepStrictEqual(new Set((yield* made).map(({ id }) => id)), new Set(ids))
    }).pipe(Effect.provide(layerTestObservation({ reconcileIntervalMs: 0 })))
  )

  it.effect("is found soon after a start without any watch", () =>
    Effect.gen(function* () {
      yield* deaf
      const fake = yield* RuntimeFake
      const [sessionId = ""] = yield* (yield* Ids).uuids(1)
      yield* fake.openSession({ sessionId })
      yield* awaitStatus(RunId.make(sessionId), "running")
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("does not create a deleted run again while the runtime still lists its session", () =>
    Effect.gen(function* () {
      yield* deaf
      const fake = yield* RuntimeFake
      const sessionId = `session-of-${yield* (yield* Ids).uuid}`
      const runId = yield* createRun({ sessionId, status: "failed" })
      yield* fake.openSession({ sessionId })
      yield* removeRuns([runId])
      yield* (yield* SessionDiscovery).reconcile
      assert.lengthOf(yield* runsOf(sessionId), 0)
      // A caller may create it again.
      const again = yield* createRun({ sessionId })
      yield* (yield* Observers).adopt(again)
      yield* awaitStatus(again, "running")
    }).pipe(Effect.provide(layerTestAdministration), Effect.provide(layerTestObservation({ reconcileIntervalMs: 0 })))
  )

  it.effect("is observed for all values of its times", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.awaitOpenStreams("WatchSessions", 1)
      const times = [2 ** 63, -(2 ** 63), Number.MAX_SAFE_INTEGER, 0]
      for (const expiresAtUnixMs of times) {
        for (const startedAtUnixMs of times) {
          const sessionId = yield* (yield* Ids).uuid
          yield* fake.openSession({ sessionId, startedAtUnixMs, expiresAtUnixMs })
          yield* awaitStatus(RunId.make(sessionId), "running")
          yield* fake.transition(sessionId, "RESOLVED")
          yield* awaitStatus(RunId.make(sessionId), "completed")
        }
      }
    }).pipe(Effect.provide(layerTestObservation({ drainTimeoutMs: 10, endCheckDelayMs: 5 })))
  )
})
