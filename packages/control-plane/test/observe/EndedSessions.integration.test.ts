import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { SessionDiscovery } from "../../src/observe/SessionDiscovery.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerTestAdministration } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun, removeRuns } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const DAY_MS = 86_400_000

const runsOf = Effect.fnUntraced(function* (sessionId: string) {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly id: string; readonly status: string; readonly metadata: Record<string, unknown> }>`
    SELECT id::text AS id, status, metadata FROM runs WHERE runtime_session_id = ${sessionId} ORDER BY created_at`
})

const reconcile = Effect.flatMap(SessionDiscovery, (discovery) => discovery.reconcile)

/** A session that began and ended while no process watched. */
const endedSession = Effect.fnUntraced(function* (
  end: "RESOLVED" | "CANCELLED" | "EXPIRED",
  over: { readonly ageMs?: number; readonly messages?: number; readonly sessionId?: string } = {}
) {
  const fake = yield* RuntimeFake
  const sessionId = over.sessionId ?? (yield* (yield* Ids).uuid)
  const startedAtUnixMs = (yield* Clock.currentTimeMillis) - (over.ageMs ?? 60_000)
  yield* fake.openSession({ sessionId, startedAtUnixMs, participants: ["agent://a"], initiator: "agent://a" })
  for (let n = 0; n < (over.messages ?? 3); n++) yield* fake.accept(sessionId, { messageType: "Evaluation" })
  yield* fake.transition(sessionId, end)
  return sessionId
})

/** No watch opens: the reconciliation, which the test runs, finds the sessions. */
const deaf = Effect.flatMap(RuntimeFake, ({ hang }) => hang({ method: "WatchSessions", times: 1_000 }))

const observed = layerTestObservation({ reconcileIntervalMs: 0 })

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })(
  "an ended session without a run",
  (it) => {
    it.effect.each([
      ["RESOLVED", "completed"],
      ["CANCELLED", "cancelled"],
      ["EXPIRED", "failed"]
    ] as const)("that is %s becomes a run that is %s, with its whole history, once", ([end, status]) =>
      Effect.gen(function* () {
        yield* deaf
        const sessionId = yield* endedSession(end, { messages: 40 })
        yield* Effect.all([reconcile, reconcile], { concurrency: 2 })
        yield* awaitStatus(RunId.make(sessionId), status)
        yield* reconcile
        const runs = yield* runsOf(sessionId)
        assert.lengthOf(runs, 1)
        assert.strictEqual(runs[0]?.metadata["discoveredState"], end)
        const { decoded } = yield* assertLogIsExact(RunId.make(sessionId))
        assert.lengthOf(
          decoded.filter(({ type }) => type === "message.received"),
          40
        )
      }).pipe(Effect.provide(observed))
    )

    it.effect("is found soon after the start of a process, with the others that ended", () =>
      Effect.gen(function* () {
        yield* deaf
        const sessionIds = yield* Effect.forEach(Array.from({ length: 60 }), () => endedSession("RESOLVED"))
        for (const sessionId of sessionIds) yield* awaitStatus(RunId.make(sessionId), "completed")
        for (const sessionId of sessionIds) assert.lengthOf(yield* runsOf(sessionId), 1)
      }).pipe(Effect.provide(layerTestObservation()))
    )

    it.effect("comes back with all of its events after a restore of a backup from before it", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const sessionId = yield* endedSession("RESOLVED")
        const runId = RunId.make(sessionId)
        yield* reconcile
        yield* awaitStatus(runId, "completed")
        const before = (yield* assertLogIsExact(runId)).decoded.map(({ type }) => type)
        // The backup has no row of the run, and no trace of its end.
        yield* removeRuns([runId])
        yield* sql`DELETE FROM deleted_sessions WHERE runtime_session_id = ${sessionId}`
        yield* sql`DELETE FROM run_tombstones WHERE run_id = ${runId}::uuid`
        assert.lengthOf(yield* runsOf(sessionId), 0)
        yield* reconcile
        yield* awaitStatus(runId, "completed")
        const after = (yield* assertLogIsExact(runId)).decoded.map(({ type }) => type)
        assert.deepStrictEqual(after, before)
      }).pipe(Effect.provide(layerTestAdministration), Effect.provide(observed))
    )

    it.effect("says that its history is gone where the runtime has dropped it", () =>
      Effect.gen(function* () {
        yield* deaf
        const fake = yield* RuntimeFake
        const sessionId = yield* endedSession("RESOLVED")
        yield* fake.compact(sessionId)
        yield* reconcile
        yield* awaitStatus(RunId.make(sessionId), "completed")
        const { decoded } = yield* assertLogIsExact(RunId.make(sessionId))
        const opened = decoded.flatMap((event) => (event.type === "session.stream.opened" ? [event.data.status] : []))
        assert.include(opened, "gap")
      }).pipe(Effect.provide(observed))
    )

    it.effect("stays without one when its run was deleted, also beside a run that had timed out", () =>
      Effect.gen(function* () {
        yield* deaf
        const deleted = yield* endedSession("RESOLVED")
        const run = yield* createRun({ sessionId: deleted, id: deleted, status: "completed" })
        yield* removeRuns([run])

        const late = yield* endedSession("RESOLVED")
        const sql = yield* PgClient.PgClient
        const timedOut = yield* createRun({ sessionId: late, id: late, status: "failed" })
        yield* sql`UPDATE runs SET error_code = 'RUNTIME_TIMEOUT' WHERE id = ${timedOut}::uuid`
        yield* reconcile
        const [second] = (yield* runsOf(late)).filter(({ id }) => id !== late)
        assert.strictEqual(second?.metadata["earlierRunId"], late)
        yield* awaitStatus(RunId.make(second?.id ?? ""), "completed")
        yield* removeRuns([RunId.make(second?.id ?? "")])

        yield* reconcile
        assert.lengthOf(yield* runsOf(deleted), 0)
        assert.lengthOf(yield* runsOf(late), 1)
      }).pipe(Effect.provide(layerTestAdministration), Effect.provide(observed))
    )

    it.effect("stays without one when it began before the window, or when the window is closed", () =>
      Effect.gen(function* () {
        yield* deaf
        const [recent, old] = [
          yield* endedSession("RESOLVED", { ageMs: 6 * DAY_MS }),
          yield* endedSession("RESOLVED", { ageMs: 8 * DAY_MS })
        ]
        yield* reconcile
        assert.deepStrictEqual([(yield* runsOf(recent)).length, (yield* runsOf(old)).length], [1, 0])
      }).pipe(
        Effect.provide(observed),
        Effect.andThen(
          Effect.gen(function* () {
            yield* deaf
            const sessionId = yield* endedSession("RESOLVED")
            yield* reconcile
            assert.lengthOf(yield* runsOf(sessionId), 0)
          }).pipe(Effect.provide(layerTestObservation({ reconcileIntervalMs: 0, reconcileEndedMs: 0 })))
        )
      )
    )
  }
)
