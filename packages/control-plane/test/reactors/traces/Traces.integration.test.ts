import { create, toBinary } from "@bufbuild/protobuf"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import {
  CommitmentPayloadSchema,
  RuntimeClient,
  SessionStartPayloadSchema,
  SignalPayloadSchema
} from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import { type CollectedSpan, otlpCollector, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import type * as Tracer from "effect/Tracer"
import { RunTraces } from "../../../src/event-log/runs/RunTraces.ts"
import * as Observation from "../../../src/observe/Observation.ts"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { Observers } from "../../../src/observe/Observers.ts"
import { AuditTrail } from "../../../src/platform/audit/AuditTrail.ts"
import { Outbox } from "../../../src/platform/outbox/Outbox.ts"
import * as Reactions from "../../../src/Reactions.ts"
import * as Tracing from "../../../src/reactors/traces/Tracing.ts"
import { layerTracedRuntime } from "../../../src/runs/RunActions.ts"
import { layerReactingLog } from "../../support/ControlPlane.ts"
import { awaitEvent, awaitStatus } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const LEAD = "agent://lead"
/** Longer than the values of span attributes. */
const SIGNAL_TYPE = "anomaly".padEnd(5_000, "y")

/**
 * The observing half of the service, stopped when the effect ends; database and runtime are the test's and outlive it.
 */
const inService = <A, E, R>(env: Readonly<Record<string, string>>, effect: Effect.Effect<A, E, R>) => {
  const service = Observation.layer.pipe(
    Layer.provideMerge(layerReactingLog),
    Layer.provide(Reactions.layer),
    Layer.provide([
      AuditTrail.layer,
      Outbox.layer,
      ObserverSettings.layerFrom({ discoveryEnabled: true, endCheckDelayMs: 20, recoveryIntervalMs: 50 })
    ]),
    Layer.provideMerge(Tracing.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )
  return Effect.scoped(Effect.provide(effect, Layer.fresh(service)))
}

const settings = (url: string) => ({
  OTEL_ENABLED: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_SERVICE_NAME: "the-service"
})

const open = (runId: RunId) =>
  Effect.gen(function* () {
    const fake = yield* RuntimeFake
    yield* fake.openSession({ sessionId: runId, participants: [LEAD], initiator: LEAD })
    yield* fake.accept(runId, {
      messageType: "SessionStart",
      sender: LEAD,
      payload: toBinary(SessionStartPayloadSchema, create(SessionStartPayloadSchema, { participants: [LEAD] }))
    })
  })

const commit = (runId: RunId) =>
  RuntimeFake.use((fake) =>
    fake.accept(runId, {
      messageType: "Commitment",
      sender: LEAD,
      payload: toBinary(
        CommitmentPayloadSchema,
        create(CommitmentPayloadSchema, { commitmentId: "c1", action: "decision.selected", outcomePositive: true })
      )
    })
  )

const signal = (runId: RunId) =>
  RuntimeFake.use((fake) =>
    fake.signal({
      sender: LEAD,
      payload: toBinary(
        SignalPayloadSchema,
        create(SignalPayloadSchema, { signalType: SIGNAL_TYPE, correlationSessionId: runId })
      )
    })
  )

/** A run whose session opens and expires. */
const finishedRun = Effect.gen(function* () {
  const id = yield* createRun()
  yield* open(id)
  yield* Observers.use((observers) => observers.adopt(id))
  yield* awaitStatus(id, "running")
  yield* RuntimeFake.use((fake) => fake.transition(id, "EXPIRED"))
  yield* awaitStatus(id, "failed")
})

const traceOf = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{
    readonly trace_id: string
    readonly span_id: string
    readonly created_at: Date
    readonly ended_at: Date
  }>`SELECT trace_id, span_id, created_at, ended_at FROM runs WHERE id = ${runId}::uuid`
  assert.isDefined(row)
  return row
})

const named = (spans: ReadonlyArray<CollectedSpan>, name: string) => spans.filter((span) => span.name === name)

const world = RuntimeFake.layer.pipe(Layer.provideMerge(layerTestDatabase))

layer(world, { excludeTestServices: true })("the trace of a run", (it) => {
  // docs/reference/admin.md#tracing
  it.effect("is exported as one tree, with the documented spans and attributes", () =>
    Effect.gen(function* () {
      const collector = yield* otlpCollector
      const runId = yield* inService(
        settings(collector.url),
        Effect.gen(function* () {
          const fake = yield* RuntimeFake
          const id = yield* createRun()
          yield* open(id)
          yield* Observers.use((observers) => observers.adopt(id))
          yield* awaitStatus(id, "running")
          yield* fake.awaitOpenStreams("WatchSignals", 1)
          // Stream and signals come by two ways; the order below is only certain when each is awaited.
          yield* awaitEvent(id, "message.received")
          yield* signal(id)
          yield* awaitEvent(id, "signal.emitted")
          yield* commit(id)
          yield* awaitEvent(id, "decision.finalized")
          yield* fake.transition(id, "RESOLVED")
          yield* awaitStatus(id, "completed")
          return id
        })
      )
      const trace = yield* traceOf(runId)
      const spans = collector.spans.filter(({ traceId }) => traceId === trace.trace_id)
      assert.deepStrictEqual([...collector.paths], ["POST /v1/traces"])

      const [lifecycle, ...more] = named(spans, "run.lifecycle")
      assert.isDefined(lifecycle)
      assert.lengthOf(more, 0)
      assert.strictEqual(lifecycle.service, "the-service")
      assert.strictEqual(lifecycle.spanId, trace.span_id)
      assert.isUndefined(lifecycle.parentSpanId)
      assert.strictEqual(lifecycle.startMs, trace.created_at.getTime())
      assert.strictEqual(lifecycle.endMs, trace.ended_at.getTime())
      assert.deepStrictEqual(lifecycle.status, { code: 1 })
      assert.deepStrictEqual(lifecycle.attributes, {
        run_id: runId,
        runtime_kind: "rust",
        mode_name: "macp.mode.decision.v1",
        execution_mode: "live",
        "run.terminal_status": "completed"
      })
      assert.deepStrictEqual(
        lifecycle.events.map(({ attributes: { seq, ...rest }, name }) => [name, typeof seq, rest]),
        [
          ["signal.emitted", "number", { name: SIGNAL_TYPE.slice(0, 4_096), sender: LEAD }],
          ["decision.finalized", "number", { action: "decision.selected", outcome: true }]
        ]
      )

      for (const name of [
        "runtime.initialize",
        "runtime.await_session_open",
        "stream.handle_raw_event",
        "run-event.persist",
        "run-event.emit"
      ]) {
        const found = named(spans, name)
        assert.isAbove(found.length, 0, name)
        for (const span of found) {
          assert.strictEqual(span.parentSpanId, trace.span_id, name)
          assert.strictEqual(span.attributes["run_id"], runId, name)
          assert.isAtMost(span.startMs, span.endMs)
        }
      }
      assert.deepInclude(named(spans, "runtime.initialize")[0]?.attributes, {
        runtime_kind: "rust",
        mode_name: "macp.mode.decision.v1"
      })
      assert.strictEqual(named(spans, "runtime.await_session_open")[0]?.attributes["session_id"], runId)
      assert.deepStrictEqual(
        named(spans, "stream.handle_raw_event").map(({ attributes }) => [
          attributes["proto.raw_kind"],
          attributes["proto.message_type"]
        ]),
        [
          ["stream-envelope", "SessionStart"],
          ["stream-envelope", "Signal"],
          ["stream-envelope", "Commitment"]
        ]
      )
      const sql = yield* PgClient.PgClient
      const [stored] = yield* sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM canonical_events WHERE run_id = ${runId}::uuid`
      for (const name of ["run-event.persist", "run-event.emit"]) {
        const counted = named(spans, name).reduce((sum, span) => sum + Number(span.attributes["proto.event_count"]), 0)
        assert.strictEqual(counted, stored?.count, name)
      }
      assert.includeMembers(
        named(spans, "run-event.persist").map((span) => span.attributes["proto.raw_kind"]),
        ["control-plane", "stream-envelope"]
      )
      assert.deepStrictEqual(
        collector.spans.filter(({ parentSpanId, name }) => parentSpanId === undefined && name !== "run.lifecycle"),
        [],
        "background work makes no traces of its own"
      )
    })
  )

  it.effect("continues in another process, and its run span ends once, as an error when the run failed", () =>
    Effect.gen(function* () {
      const collector = yield* otlpCollector
      const runId = yield* inService(
        settings(collector.url),
        Effect.gen(function* () {
          const id = yield* createRun()
          yield* open(id)
          yield* Observers.use((observers) => observers.adopt(id))
          yield* awaitEvent(id, "session.stream.opened")
          yield* awaitStatus(id, "running")
          return id
        })
      )
      const trace = yield* traceOf(runId)
      assert.lengthOf(named(collector.spans, "run.lifecycle"), 0, "the run goes on")
      // What was exported while the run is alive hangs on the span that is still to come.
      const before = collector.spans.length
      assert.isAbove(named(collector.spans, "run-event.persist").length, 0)
      for (const name of ["run-event.persist", "run-event.emit", "runtime.initialize", "run.observation"]) {
        for (const span of named(collector.spans, name)) {
          assert.deepStrictEqual([span.traceId, span.parentSpanId], [trace.trace_id, trace.span_id], name)
        }
      }
      const [stopped, ...others] = named(collector.spans, "run.observation")
      assert.lengthOf(others, 0)
      assert.deepInclude(stopped?.attributes, {
        run_id: runId,
        session_id: runId,
        "run.adoption": "created",
        "run.observation.outcome": "interrupted"
      })
      assert.strictEqual(stopped?.status.code, 0, "neither a success nor an error")

      yield* inService(
        settings(collector.url),
        Effect.gen(function* () {
          const fake = yield* RuntimeFake
          yield* awaitEvent(runId, "session.stream.opened", (data) => data["status"] === "recovered")
          yield* fake.transition(runId, "EXPIRED")
          yield* awaitStatus(runId, "failed")
          yield* until(
            Observers.use((observers) => observers.active),
            (active) => active === 0
          )
        })
      )
      const [lifecycle, ...more] = named(collector.spans, "run.lifecycle")
      assert.lengthOf(more, 0)
      assert.strictEqual(lifecycle?.traceId, trace.trace_id)
      assert.strictEqual(lifecycle?.spanId, trace.span_id)
      assert.isUndefined(lifecycle?.parentSpanId)
      const ended = yield* traceOf(runId)
      assert.strictEqual(lifecycle?.startMs, ended.created_at.getTime())
      assert.strictEqual(lifecycle?.endMs, ended.ended_at.getTime())
      assert.strictEqual(lifecycle?.attributes["run.terminal_status"], "failed")
      assert.deepInclude(lifecycle?.status, { code: 2, message: "runtime session expired" })
      const later = collector.spans.slice(before)
      assert.isAbove(named(later, "run-event.persist").length, 0)
      for (const span of named(later, "run-event.persist")) assert.strictEqual(span.parentSpanId, trace.span_id)
      const [resumed, ...further] = named(later, "run.observation")
      assert.lengthOf(further, 0)
      assert.strictEqual(resumed?.parentSpanId, trace.span_id)
      assert.deepInclude(resumed?.attributes, { "run.adoption": "recovered", "run.observation.outcome": "ended" })
      assert.isAtLeast(resumed?.startMs ?? 0, stopped?.endMs ?? 0)
    })
  )

  it.effect("takes in the runtime calls that a request makes about the run's session", () =>
    Effect.gen(function* () {
      const runId = yield* inService({}, createRun())
      const trace = yield* traceOf(runId)
      yield* open(runId)
      const { client } = yield* RuntimeFake
      const parents: Array<Tracer.AnySpan> = []
      const note = Effect.map(Effect.currentParentSpan, (span) => parents.push(span))
      const spied = Layer.succeed(RuntimeClient, {
        ...client,
        suspendSession: (control) => Effect.andThen(Effect.orDie(note), client.suspendSession(control))
      })
      yield* RuntimeClient.use((runtime) => runtime.suspendSession({ sessionId: runId, reason: "" })).pipe(
        Effect.withSpan("a request"),
        Effect.provide(layerTracedRuntime.pipe(Layer.provide([RunTraces.layer, spied])))
      )
      assert.deepStrictEqual(
        parents.map(({ spanId, traceId }) => [traceId, spanId]),
        [[trace.trace_id, trace.span_id]]
      )
    })
  )

  it.effect("follows the standard sampler: a trace that it does not want has no span at all", () =>
    Effect.gen(function* () {
      const collector = yield* otlpCollector
      yield* inService({ ...settings(collector.url), OTEL_TRACES_SAMPLER: "parentbased_always_off" }, finishedRun)
      assert.lengthOf(collector.spans, 0)
    })
  )

  it.effect("goes out as protobuf unless the standard variables say otherwise", () =>
    Effect.gen(function* () {
      const collector = yield* otlpCollector
      const { OTEL_EXPORTER_OTLP_PROTOCOL: _, ...standard } = settings(collector.url)
      yield* inService(standard, finishedRun)
      assert.deepStrictEqual([...collector.types], ["application/x-protobuf"])
      assert.deepStrictEqual([...collector.paths], ["POST /v1/traces"])
    })
  )

  it.effect("is not recorded when tracing is off", () =>
    Effect.gen(function* () {
      const collector = yield* otlpCollector
      yield* inService(
        { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
        Effect.gen(function* () {
          assert.isFalse(yield* References.TracerEnabled)
          const id = yield* createRun()
          yield* open(id)
          yield* Observers.use((observers) => observers.adopt(id))
          yield* awaitStatus(id, "running")
        })
      )
      assert.lengthOf(collector.spans, 0)
    })
  )
})
