import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { Observers } from "../../src/observe/Observers.ts"
import { PendingCancels } from "../../src/observe/PendingCancels.ts"
import { layerTestService } from "../support/HttpService.ts"
import { post, statusOf } from "../support/LiveRuns.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const REAL_CLOCK = { excludeTestServices: true, timeout: "60 seconds" } as const

/** Reasons of the cancellations that the runtime received. */
const asked = (runId: RunId) =>
  RuntimeFake.use((fake) =>
    Effect.map(fake.calls, (calls) =>
      calls
        .filter(({ method, sessionId }) => method === "CancelSession" && sessionId === runId)
        .map(({ detail }) => detail)
    )
  )

const remembered = (runId: RunId) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT FROM late_cancels WHERE run_id = ${runId}::uuid`).pipe(
    Effect.map((rows) => rows.length)
  )

const openSession = (runId: RunId) =>
  RuntimeFake.use((fake) => fake.openSession({ sessionId: runId, initiator: "agent://lead" }))

const awaitStopped = Effect.fnUntraced(function* (runId: RunId) {
  yield* until(remembered(runId), (rows) => rows === 0)
  const session = yield* RuntimeFake.use((fake) => fake.client.getSession(runId))
  assert.strictEqual(session.state, "CANCELLED")
  const { decoded } = yield* assertLogIsExact(runId)
  const changes = decoded.filter(({ type }) => type === "session.state.changed")
  assert.deepStrictEqual(
    changes.map(({ recorded }) => recorded.data["state"]),
    ["CANCELLED"]
  )
})

/** From now on the service receives nothing about sessions. */
const losingTheWatch = RuntimeFake.use((fake) =>
  Effect.gen(function* () {
    yield* fake.awaitOpenStreams("WatchSessions", 1)
    yield* fake.fail({ method: "WatchSessions", times: Number.POSITIVE_INFINITY }, "UNAVAILABLE")
    yield* fake.cut("WatchSessions")
    yield* fake.awaitOpenStreams("WatchSessions", 0)
  })
)

// docs/internals/runtime.md#late-cancel
for (const watched of [true, false]) {
  layer(layerTestService({ observer: { recoveryEnabled: true } }), REAL_CLOCK)(
    `a run that is cancelled before its session opens, ${watched ? "which is watched" : "queried"}`,
    (it) => {
      it.effect("has the session stopped when it opens, once, with the caller's reason", () =>
        Effect.gen(function* () {
          if (!watched) yield* losingTheWatch
          const runId = yield* createRun({ metadata: { cancellationDelegated: true } })
          yield* (yield* Observers).adopt(runId)
          const { status, text } = yield* post(runId, "cancel", { reason: "enough" })
          assert.strictEqual(status, 201, text)
          assert.strictEqual(yield* remembered(runId), 1)
          yield* openSession(runId)
          yield* awaitStopped(runId)
          assert.strictEqual(yield* statusOf(runId), "cancelled")
          // The caller's own attempt, which found no session, and the one that did.
          assert.deepStrictEqual(yield* asked(runId), ["enough", "enough"])
        })
      )
    }
  )
}

layer(layerTestDatabase, REAL_CLOCK)("a remembered cancel", (it) => {
  const cancelledRun = (untilUnixMs: number) =>
    Effect.gen(function* () {
      const runId = yield* createRun({ status: "cancelled" })
      const sql = yield* PgClient.PgClient
      yield* sql`INSERT INTO late_cancels (run_id, reason, until)
                 VALUES (${runId}::uuid, 'enough', ${new Date(untilUnixMs)})`
      return runId
    })

  it.effect("outlives a restart of the service", () =>
    Effect.gen(function* () {
      const runId = yield* Effect.provide(
        cancelledRun(Date.parse("2100-01-01T00:00:00.000Z")),
        layerTestObservation({ recoveryEnabled: false })
      )
      yield* Effect.gen(function* () {
        yield* openSession(runId)
        yield* awaitStopped(runId)
        assert.deepStrictEqual(yield* asked(runId), ["enough"])
      }).pipe(Effect.provide(layerTestObservation()))
    })
  )

  it.effect("is forgotten when its time is over", () =>
    Effect.gen(function* () {
      const runId = yield* cancelledRun(0)
      yield* until(remembered(runId), (rows) => rows === 0)
      assert.deepStrictEqual(yield* asked(runId), [])
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("waits for the bind time-out, or for as long as the session may live", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const lateCancels = yield* PendingCancels
      for (const [ttlMs, expected] of [
        [10, "2026-07-01T10:01:00.000Z"],
        [300_000, "2026-07-01T10:05:00.000Z"]
      ] as const) {
        const runId = yield* createRun({ status: "cancelled" })
        yield* lateCancels.remember(runId, { at: "2026-07-01T10:00:00.000Z", reason: "enough", ttlMs })
        const [row] = yield* sql<{ readonly until: Date }>`
          SELECT until FROM late_cancels WHERE run_id = ${runId}::uuid`
        assert.strictEqual(row?.until.toISOString(), expected)
        yield* lateCancels.forget(runId)
      }
    }).pipe(Effect.provide(layerTestObservation({ recoveryEnabled: false })))
  )
})
