import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ReadOnlyServer } from "@runplane/database"
import { RunId } from "@runplane/domain"
import { CircuitBreaker, RuntimeError } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { Health } from "../../../src/admin/health/Health.ts"
import { AppendQueue } from "../../../src/event-log/append/AppendQueue.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { EventLogSettings } from "../../../src/event-log/EventLogSettings.ts"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { Observers } from "../../../src/observe/Observers.ts"
import { Placement } from "../../../src/observe/placement/Placement.ts"
import { SHARDS } from "../../../src/observe/placement/ShardLocks.ts"
import { ReadyParts } from "../../../src/platform/http/ReadyParts.ts"
import { WriteCheck } from "../../../src/platform/postgres/WriteCheck.ts"
import { messageDraft } from "../../support/Appends.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { lockRun } from "../../support/RowLock.ts"
import { createRun } from "../../support/Runs.ts"

/** Asks anew: the service itself keeps its answer for a moment. */
const readiness = Effect.provide(
  Health.use((health) => health.readiness),
  Layer.fresh(Health.layer)
)

layer(layerTestService(), { excludeTestServices: true })("GET /readyz", (it) => {
  it.effect("carries both forms and is ok when everything works", () =>
    Effect.gen(function* () {
      const { body, status } = yield* call("GET", "/readyz")
      assert.strictEqual(status, 200)
      const { checks, ingest, ok, status: word, ...flat } = body
      assert.strictEqual(ok, true)
      const limitBytes = 64 * 1024 * 1024
      const counts = { received: 0, rejected: 0, duplicates: 0 }
      assert.deepStrictEqual(ingest, { waiting: 0, waitingBytes: 0, limitBytes, lagSeconds: 0, grpc: "off", ...counts })
      assert.strictEqual(word, "ok")
      assert.deepStrictEqual(checks, flat)
      assert.deepInclude(checks, { database: "ok", streamConsumer: "ok", circuitBreaker: "CLOSED" })
      assert.strictEqual(checks.runtime.ok, true)
      assert.match(checks.runtime.detail, /^connected to /)
    })
  )

  it.effect("has the parts of features, without those that fail or are slow", () =>
    Effect.gen(function* () {
      const archive = { ok: false, detail: "the store is full", lagSeconds: 7 }
      const failing = Effect.fail(new SqlError({ reason: new UnknownError({ cause: "refused" }) }))
      const found = yield* Effect.provideService(readiness, ReadyParts, [
        Effect.never,
        failing,
        Effect.undefined,
        Effect.succeed({ ok: false, shown: { archive } })
      ])
      assert.deepInclude(found, { archive, status: "degraded", ok: false, database: "ok" })
      const others = yield* Effect.provideService(readiness, ReadyParts, [Effect.never, failing])
      assert.deepInclude(others, { status: "ok", ok: true })
      assert.notProperty(others, "ingest")
    })
  )

  it.effect("is degraded without the runtime, or with an open breaker", () =>
    Effect.gen(function* () {
      yield* RuntimeFake.use((fake) => fake.fail({ method: "Initialize" }, "UNAVAILABLE", "connection refused"))
      const away = yield* readiness
      assert.strictEqual(away.status, "degraded")
      assert.deepStrictEqual(away.runtime, { ok: false, runtimeKind: "fake", detail: "connection refused" })
      const breaker = yield* CircuitBreaker
      const failure = new RuntimeError({ reason: "UNAVAILABLE", method: "X", message: "x" })
      for (let call = 0; call < 5; call++) yield* Effect.ignore(breaker.guard("X", Effect.fail(failure)))
      const open = yield* readiness
      assert.strictEqual(open.circuitBreaker, "OPEN")
      assert.strictEqual(open.ok, false)
      const strict = yield* until(call("GET", "/readyz?strict=true"), ({ body }) => !body.ok)
      assert.strictEqual(strict.status, 503)
      assert.strictEqual((yield* call("GET", "/readyz?strict=no&strict=1")).status, 200)
      assert.deepStrictEqual((yield* call("GET", "/livez")).body, { status: "ok" })
      yield* breaker.reset
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("the log of GET /readyz", (it) => {
  it.effect("is not ok while an addition waits too long, and says for what", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const unlock = yield* lockRun(runId)
      const held = yield* Effect.forkChild(log.record({ runId, events: [messageDraft(1)] }))
      const impatient = { ...(yield* EventLogSettings), oldestAppendMs: 1 }
      const asked = Effect.provideService(readiness, EventLogSettings, impatient)
      const degraded = yield* until(asked, ({ log }) => !log.ok && log.detail.includes("locked"))
      assert.strictEqual(degraded.status, "degraded")
      assert.strictEqual(
        degraded.log.detail.replace(/\d+ s/, "n s"),
        `an append to run ${runId} has waited n s: another transaction has locked the run`
      )
      yield* unlock
      yield* Fiber.join(held)
      assert.deepStrictEqual((yield* asked).log, { ok: true, detail: "" })
      yield* endRun(runId)
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("the log of GET /readyz, when the database fails", (it) => {
  it.effect("is not ok once every addition has failed for some time", () =>
    Effect.gen(function* () {
      const { oldestAppendMs } = yield* EventLogSettings
      const asked = (forMs: number) =>
        Effect.provideService(readiness, AppendQueue, {
          ...queue,
          failing: Effect.succeed({ forMs, reason: "no space left on db.internal" })
        })
      const queue = yield* AppendQueue
      assert.deepStrictEqual((yield* asked(oldestAppendMs - 1)).log, { ok: true, detail: "" })
      const degraded = yield* asked(12_345)
      assert.strictEqual(degraded.status, "degraded")
      assert.deepStrictEqual(degraded.log, {
        ok: false,
        detail: "the database has refused every append for 12 s; the log of the service has the reason"
      })
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("the database of GET /readyz", (it) => {
  it.effect("is unhealthy while it takes no writes", () =>
    Effect.gen(function* () {
      const failed = new ReadOnlyServer().asSqlError("query")
      const asked = Effect.provideService(readiness, WriteCheck, Effect.fail(failed))
      assert.deepInclude(yield* asked, { database: "unhealthy", status: "degraded" })
      assert.deepInclude(yield* readiness, { database: "ok", status: "ok" })
    })
  )

  it.effect("has an unhealthy streamConsumer while this process has no shard", () =>
    Effect.gen(function* () {
      const placement = yield* Placement
      const asked = Effect.provideService(readiness, Placement, { ...placement, isStarved: Effect.succeed(true) })
      assert.deepInclude(yield* asked, { streamConsumer: "unhealthy", status: "degraded" })
    })
  )
})

// Without recovery the unobserved runs of the test are not adopted.
layer(layerTestService({ observer: { recoveryEnabled: false, refreshMs: 50 } }), { excludeTestServices: true })(
  "the streamConsumer of GET /readyz",
  (it) => {
    it.effect("is unhealthy while an unfinished run is observed by no process at all", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const lost = yield* readiness
        assert.strictEqual(lost.streamConsumer, "unhealthy")
        assert.strictEqual(lost.status, "degraded")

        yield* endRun(runId)
        assert.strictEqual((yield* readiness).streamConsumer, "ok")
      })
    )

    it.effect("leaves it to another process to observe the runs of its shards", () =>
      Effect.gen(function* () {
        const placement = yield* Placement
        const runId = yield* Effect.gen(function* () {
          const elsewhere = yield* Placement
          const theirs = yield* until(Effect.sync(randomUUID), (id) => {
            const shard = placement.shardOf(RunId.make(id))
            return elsewhere.has(shard) && !placement.has(shard)
          })
          const created = yield* createRun({ id: theirs })
          assert.strictEqual((yield* readiness).streamConsumer, "ok")
          return created
        }).pipe(
          Effect.provide(
            Layer.fresh(Placement.layer).pipe(Layer.provide(ObserverSettings.layerFrom({ refreshMs: 50 })))
          ),
          Effect.scoped
        )
        // It has gone, and its shards are free or ours.
        assert.strictEqual((yield* readiness).streamConsumer, "unhealthy")
        yield* endRun(runId)
        yield* until(
          Effect.sync(() => Array.from({ length: SHARDS }, (_, index) => placement.has(index + 1))),
          (all) => all.every((has) => has)
        )
      })
    )

    it.effect("counts the runs of this process by their observers, even while the locks are gone", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* Observers.use((observers) => observers.adopt(runId))
        assert.strictEqual((yield* readiness).streamConsumer, "ok")
        const sql = yield* PgClient.PgClient
        // The connections of a process that has gone may outlive it for a moment.
        const holders = yield* until(
          sql<{ readonly pid: number }>`
            SELECT DISTINCT pid FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 2
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          ({ length }) => length === 2
        )
        yield* Effect.forEach(holders, ({ pid }) => sql`SELECT pg_terminate_backend(${pid}::int)`)
        assert.strictEqual((yield* readiness).streamConsumer, "ok")
        yield* endRun(runId)
      })
    )

    it.effect("waits until a new run can be adopted", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const sql = yield* PgClient.PgClient
        yield* sql`UPDATE runs SET created_at = now() WHERE id = ${runId}::uuid`
        assert.strictEqual((yield* readiness).streamConsumer, "ok")
        yield* endRun(runId)
      })
    )
  }
)

layer(layerTestService(), { excludeTestServices: true })("GET /metrics", (it) => {
  it.effect("answers the text format, with the metrics of the process beside those of the service", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* call("GET", "/metrics")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
      for (const name of ["http_requests_total", "process_cpu_seconds_total", "nodejs_heap_size_total_bytes"]) {
        assert.match(text, new RegExp(`^# TYPE ${name} (counter|gauge)$`, "m"))
      }
    })
  )

  it.effect("counts a run's life and its requests, by route", () =>
    Effect.gen(function* () {
      const runId = RunId.make(randomUUID())
      const fake = yield* RuntimeFake
      yield* fake.openSession({ sessionId: runId, participants: ["agent://lead"], initiator: "agent://lead" })
      yield* fake.accept(runId, { messageType: "SessionStart", sender: "agent://lead" })
      yield* call("POST", "/runs", { body: descriptor({ session: { sessionId: runId } }) })
      yield* awaitStatus(runId, "running")
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      yield* call("GET", `/runs/${runId}`)
      const { text } = yield* call("GET", "/metrics")
      for (const line of [
        'http_requests_total{method="GET",path="/runs/:id",status_code="200"} 1',
        'http_requests_total{method="POST",path="/runs",status_code="202"} 1',
        'run_state_transitions_total{status="queued"} 1',
        'run_state_transitions_total{status="running"} 1',
        'run_state_transitions_total{status="completed"} 1',
        'proto_inbound_messages_total{mode="macp.mode.decision.v1",message_type="SessionStart"} 1',
        'proto_outbound_messages_total{category="kickoff",status="accepted"} 1',
        'proto_run_duration_seconds_count{terminal_status="completed",mode_name="macp.mode.decision.v1"} 1',
        "macp_run_duration_seconds_count 1",
        "circuit_breaker_state 0"
      ]) {
        assert.include(text, `${line}\n`)
      }
    })
  )
})
