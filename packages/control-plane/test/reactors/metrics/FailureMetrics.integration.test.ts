import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { otlpCollector, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as EventNotices from "../../../src/event-log/subscribe/EventNotices.ts"
import { makeLiveBatch } from "../../../src/event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { AuditTrail } from "../../../src/platform/audit/AuditTrail.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { Metrics, type SideEffectStep } from "../../../src/platform/metrics/Metrics.ts"
import { Outbox } from "../../../src/platform/outbox/Outbox.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import * as Reactions from "../../../src/Reactions.ts"
import * as Tracing from "../../../src/reactors/traces/Tracing.ts"
import { layerReactingLog } from "../../support/ControlPlane.ts"
import { countedMetrics } from "../../support/CountedMetrics.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitEvent, awaitStatus } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { createMigratedDatabase, layerTestDatabase } from "../../support/TestDatabase.ts"

/** The value of a line of `/metrics`; 0 while there is none. */
const figureOf = (line: string) =>
  Effect.map(call("GET", "/metrics"), ({ text }) => {
    const found = text.split("\n").find((candidate) => candidate.startsWith(`${line} `))
    return Number(found?.slice(line.length + 1) ?? 0)
  })

const awaitCount = (line: string, count: number) => until(figureOf(line), (value) => value >= count)

/** The statement, and afterwards the one that takes it back, whatever the effect came to. */
const spoiled = <A, E, R>(statement: string, undo: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(statement).unprepared
    return yield* Effect.ensuring(effect, Effect.orDie(sql.unsafe(undo).unprepared))
  })

const SIDE_EFFECTS = "proto_post_commit_side_effect_failures_total"

const service = layerTestService({ observer: { recoveryIntervalMs: 50, recoveryEnabled: true } })

// docs/reference/admin.md#metrics-endpoint
layer(service, { excludeTestServices: true })("the metrics of failures", (it) => {
  it.effect("count each failed adoption of a run, and the successful one", () =>
    Effect.gen(function* () {
      const failed = 'proto_recovery_total{status="failed"}'
      const succeeded = 'proto_recovery_total{status="success"}'
      const runId = yield* spoiled(
        "ALTER TABLE sessions RENAME COLUMN expires_at TO gone",
        "ALTER TABLE sessions RENAME COLUMN gone TO expires_at",
        Effect.tap(createRun(), awaitCount(failed, 1))
      )
      yield* awaitStatus(runId, "starting")
      assert.strictEqual(yield* figureOf(succeeded), 1)
      yield* endRun(runId)
    })
  )

  it.effect("count the adoption of a bound run, which its log has too", () =>
    Effect.gen(function* () {
      const before = yield* figureOf('proto_recovery_total{status="success"}')
      const runId = yield* createRun({ status: "binding_session" })
      yield* awaitEvent(runId, "session.stream.opened", ({ status }) => status === "recovered")
      assert.strictEqual(yield* figureOf('proto_recovery_total{status="success"}'), before + 1)
      yield* endRun(runId)
    })
  )

  it.effect("count a listener of committed events that throws: the events stay committed", () =>
    Effect.gen(function* () {
      const live = yield* LiveEvents
      const runId = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* live.listen(() => {
            throw new Error("a listener's fault")
          })
          return yield* createRun()
        })
      )
      assert.isAtLeast(yield* figureOf(`${SIDE_EFFECTS}{step="publish"}`), 1)
      const { body } = yield* call("GET", `/runs/${runId}/events?type=run.created`)
      assert.strictEqual(body.total, 1)
      yield* endRun(runId)
    })
  )

  it.effect("count failed audit entries of actions that were already done; the request succeeds", () =>
    Effect.gen(function* () {
      const answer = yield* spoiled(
        "ALTER TABLE audit_log RENAME TO audit_away",
        "ALTER TABLE audit_away RENAME TO audit_log",
        call("POST", "/admin/circuit-breaker/reset")
      )
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(yield* figureOf(`${SIDE_EFFECTS}{step="audit"}`), 1)
      const accepted = yield* call("POST", "/runs", { body: descriptor() })
      assert.strictEqual(accepted.status, 202)
    })
  )
})

/** Collects the failed side effects of a service. */
const meter = Effect.gen(function* () {
  const steps = yield* Queue.unbounded<SideEffectStep>()
  return { steps, layer: countedMetrics({ sideEffectFailed: (step) => Queue.offerUnsafe(steps, step) }) }
})

it.live("a notice that other instances cannot be sent is counted", () =>
  Effect.gen(function* () {
    const { layer: metered, steps } = yield* meter
    const url = yield* createMigratedDatabase
    const database = new URL(url).pathname.slice(1)
    const instance = EventNotices.layer.pipe(
      Layer.provideMerge(LiveEvents.layer),
      Layer.provide([layerDatabase({ url, maxConnections: 2 }), Ids.layer, metered])
    )
    yield* Effect.gen(function* () {
      const live = yield* LiveEvents
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`).unprepared
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${database}`
      const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
      const batch = {
        runId,
        status: "running",
        changed: false,
        events: [],
        state: () => "{}",
        lastSeq: 1,
        lastIndex: 1
      } as const
      live.publish([makeLiveBatch(batch)])
      assert.strictEqual(yield* Queue.take(steps), "notify")
    }).pipe(Effect.provide(instance), Effect.scoped)
  }).pipe(Effect.provide(layerTestDatabase), Effect.scoped)
)

it.live("a span that cannot be made is counted, and the run ends all the same", () =>
  Effect.gen(function* () {
    const collector = yield* otlpCollector
    const env = { OTEL_ENABLED: "true", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const log = layerReactingLog.pipe(
      Layer.provideMerge(Reactions.layer),
      Layer.provide([AuditTrail.layer, Outbox.layer, RuntimeFake.layer]),
      Layer.provideMerge(Tracing.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    )
    const scrape = Metrics.use((metrics) =>
      metrics.scrape({
        activeRuntimeStreams: 0,
        oldestAppendMs: 0,
        waitingAppends: 0,
        pool: { inUse: 0, waiting: 0, max: 0 },
        webhookBacklog: 0,
        circuitState: "CLOSED",
        circuitFailures: 0,
        circuitSuccesses: 0
      })
    )
    yield* Effect.gen(function* () {
      const runId = yield* createRun()
      yield* spoiled(
        "ALTER TABLE runs RENAME COLUMN mode TO gone",
        "ALTER TABLE runs RENAME COLUMN gone TO mode",
        Effect.andThen(
          endRun(runId),
          until(scrape, (text) => text.includes(`${SIDE_EFFECTS}{step="trace"} 1`))
        )
      )
    }).pipe(Effect.provide(log), Effect.scoped)
    assert.lengthOf(
      collector.spans.filter(({ name }) => name === "run.lifecycle"),
      0
    )
  }).pipe(Effect.provide(layerTestDatabase), Effect.scoped)
)
