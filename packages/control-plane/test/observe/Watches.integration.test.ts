import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId, type RunStatus } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Observers } from "../../src/observe/Observers.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { countedMetrics } from "../support/CountedMetrics.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitEvent, awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"
import { signal } from "./Signals.ts"

/** A run left in this status by a process that is gone. */
const leftAs = Effect.fnUntraced(function* (status: RunStatus) {
  const sql = yield* PgClient.PgClient
  const runId = yield* createRun()
  yield* sql`UPDATE runs SET status = ${status} WHERE id = ${runId}::uuid`
  return runId
})

const onFreshDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, layerTestDatabase)

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("SignalWatch", (it) => {
  it.effect("stores the token usage of ambient signals in the run, with its price", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.openSession({ sessionId: runId })
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.signal(signal(runId))
      const { decoded, head, projection } = yield* awaitEvent(runId, "signal.emitted")
      assert.isTrue(decoded.some((event) => event.type === "llm.call.completed"))
      assert.include(projection?.metrics ?? "", `"estimatedCostUsd":3.5`)
      assert.strictEqual(Number(head?.stream_cursor), 0)
    }).pipe(Effect.provide(layerTestObservation()))
  )

  it.effect("stores signals of a run that has ended, and drops those that name no known session", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.openSession({ sessionId: runId })
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.transition(runId, "CANCELLED")
      yield* awaitStatus(runId, "cancelled")
      yield* fake.signal(signal("a-session-without-a-run", "lost"))
      yield* fake.signal(signal("", "lost"))
      yield* fake.signal(signal(runId, "late"))
      const { decoded } = yield* awaitEvent(runId, "signal.emitted")
      assert.deepStrictEqual(
        decoded.filter((event) => event.type === "signal.emitted").map((event) => event.recorded.data["signalType"]),
        ["late"]
      )
      assert.strictEqual(decoded.filter((event) => event.type === "run.cancelled").length, 1)
    }).pipe(Effect.provide(layerTestObservation()))
  )
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("a runtime that drops signals", (it) => {
  it.effect("is marked in the runs that had sent some, and in no other", () => {
    let gaps = 0
    const counted = countedMetrics({ signalGap: () => (gaps += 1) })
    return Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const [loud, quiet] = [yield* createRun(), yield* createRun()]
      for (const runId of [loud, quiet]) {
        yield* fake.openSession({ sessionId: runId })
        yield* (yield* Observers).adopt(runId)
        yield* awaitStatus(runId, "running")
      }
      yield* fake.signal(signal(loud))
      yield* awaitEvent(loud, "signal.emitted")
      yield* fake.cut("WatchSignals", { reason: "RESOURCE_EXHAUSTED" })
      const { state } = yield* awaitEvent(loud, "session.stream.opened", (data) => data["status"] === "gap")
      assert.include(state, `"historyGap":true`)
      assert.strictEqual(gaps, 1)
      yield* fake.awaitOpenStreams("WatchSignals", 1)
      yield* fake.signal(signal(quiet))
      const { decoded } = yield* awaitEvent(quiet, "signal.emitted")
      assert.isFalse(decoded.some((event) => event.recorded.data["status"] === "gap"))
    }).pipe(Effect.provide(layerTestObservation().pipe(Layer.provide(counted))))
  })
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("SessionWatch", (it) => {
  it.effect("creates one run of a session without a POST", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const sql = yield* PgClient.PgClient
      const sessionId = yield* (yield* Ids).uuid
      yield* fake.awaitOpenStreams("WatchSessions", 1)
      yield* fake.openSession({ sessionId, participants: ["agent://a"], initiator: "agent://a" })
      const runId = RunId.make(sessionId)
      yield* awaitStatus(runId, "running")
      yield* fake.announce({ type: "CREATED", session: yield* fake.client.getSession(sessionId), observedAtUnixMs: 0 })
      const rows = yield* sql<{ readonly metadata: { readonly source: string; readonly initiator: string } }>`
        SELECT metadata FROM runs WHERE runtime_session_id = ${sessionId}`
      assert.strictEqual(rows.length, 1)
      assert.strictEqual(rows[0]?.metadata.source, "session-discovery")
      assert.strictEqual(rows[0]?.metadata.initiator, "agent://a")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.strictEqual(decoded.filter((event) => event.type === "run.created").length, 1)
    }).pipe(Effect.provide(layerTestObservation()))
  )

  for (const [end, status] of [
    ["CANCELLED", "cancelled"],
    ["EXPIRED", "failed"]
  ] as const) {
    it.effect(`is open without discovery as well: a run receives ${end} and its signals, a session gets no run`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const sql = yield* PgClient.PgClient
        const stranger = yield* (yield* Ids).uuid
        const runId = yield* createRun()
        yield* fake.awaitOpenStreams("WatchSessions", 1)
        yield* fake.openSession({ sessionId: stranger })
        yield* fake.openSession({ sessionId: runId })
        yield* (yield* Observers).adopt(runId)
        yield* awaitStatus(runId, "running")
        yield* fake.signal(signal(runId))
        yield* awaitEvent(runId, "signal.emitted")
        // A query of the session does not show its end: the watch has to report it.
        yield* fake.fail({ method: "GetSession", times: 1_000 }, "UNAVAILABLE", "no answer")
        yield* fake.transition(runId, end)
        yield* awaitStatus(runId, status)
        const rows = yield* sql`SELECT id FROM runs WHERE runtime_session_id = ${stranger}`
        assert.lengthOf(rows, 0)
      }).pipe(Effect.provide(layerTestObservation({ discoveryEnabled: false })))
    )
  }

  it.effect("opens the watch again after it broke and reads the missed sessions", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* createRun()
      yield* fake.openSession({ sessionId: runId })
      yield* (yield* Observers).adopt(runId)
      yield* awaitStatus(runId, "running")
      yield* fake.cut("WatchSessions", { reason: "RESOURCE_EXHAUSTED" })
      yield* fake.awaitOpenStreams("WatchSessions", 0)
      yield* fake.setState(runId, "CANCELLED")
      yield* awaitStatus(runId, "cancelled")
      yield* fake.awaitOpenStreams("WatchSessions", 1)
    }).pipe(Effect.provide(layerTestObservation()))
  )
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("recovery", (it) => {
  it.effect("adopts runs of every unfinished status, each at its own step", () =>
    onFreshDatabase(
      Effect.gen(function* () {
        const left = new Map<RunStatus, RunId>()
        for (const status of ["queued", "starting", "binding_session", "running", "suspended"] as const) {
          left.set(status, yield* leftAs(status))
        }
        const finished = yield* leftAs("completed")
        yield* Effect.gen(function* () {
          const fake = yield* RuntimeFake
          for (const [status, runId] of left) {
            yield* fake.openSession({ sessionId: runId, state: status === "suspended" ? "SUSPENDED" : "OPEN" })
          }
          for (const [status, runId] of left) {
            yield* awaitStatus(runId, status === "suspended" ? "suspended" : "running")
            if (status === "queued" || status === "starting") continue
            yield* awaitEvent(runId, "session.stream.opened", (data) => data["status"] === "recovered")
          }
          for (const [, runId] of left) yield* fake.transition(runId, "CANCELLED")
          for (const [, runId] of left) yield* awaitStatus(runId, "cancelled")
        }).pipe(Effect.provide(layerTestObservation()))
        const { decoded } = yield* assertLogIsExact(finished).pipe(Effect.provide(layerTestObservation()))
        assert.deepStrictEqual(
          decoded.map((event) => event.type),
          ["run.created"]
        )
      }).pipe(Effect.provide(layerTestLog))
    )
  )
})
