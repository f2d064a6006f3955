import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { draftEvent, MAX_STATE_BYTES, projectAll, type RunId, runCompleted } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { EventRepository } from "../../src/event-log/EventRepository.ts"
import { ProjectionSettings } from "../../src/event-log/projection/ProjectionSettings.ts"
import { RunStateReader } from "../../src/event-log/projection/RunStateReader.ts"
import { AuditTrail } from "../../src/platform/audit/AuditTrail.ts"
import { READ_BYTES } from "../../src/platform/postgres/BoundedRows.ts"
import { ProjectionRebuild } from "../../src/runs/ProjectionRebuild.ts"
import { ReplayStates } from "../../src/streams/replay/ReplayStates.ts"
import { appendMessages, messageDraft } from "../support/Appends.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

/** A process of its own, which stores a state after so many events and remembers so many bytes of states. */
const layerProcess = (lagEvents: number, cacheBytes: number) =>
  Layer.fresh(
    Layer.merge(ReplayStates.layer, ProjectionRebuild.layer).pipe(
      Layer.provide(AuditTrail.layer),
      Layer.provideMerge(layerTestLog),
      Layer.provide(Layer.succeed(ProjectionSettings, { lagEvents, lagMs: 3_600_000, cacheBytes }))
    )
  )

const storedSeq = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly last_seq: bigint }>`
    SELECT last_seq FROM projections WHERE run_id = ${runId}::uuid`
  return Number(row?.last_seq ?? 0n)
})

const signal = (number: number, bytes: number) =>
  draftEvent(
    "signal.emitted",
    {
      ts: "2026-07-01T10:00:00.000Z",
      subject: { kind: "signal", id: `s${number}` },
      source: { kind: "runtime", name: "rust-runtime", rawType: "Signal" }
    },
    { messageType: "Signal", messageId: `s${number}`, sender: "a", decodedPayload: { blob: "x".repeat(bytes), number } }
  )

const caller = {
  actor: { actorId: "key:1", actorType: "api-key", role: "admin" },
  requestId: "req-1",
  address: "127.0.0.1"
} as const

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)))("checkpoints", (it) => {
  const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))
  const step = Schema.Union([
    Schema.Struct({ do: Schema.tag("append"), count }),
    Schema.Struct({ do: Schema.tag("crash"), lag: count, cacheBytes: Schema.Literals([0, 1_000_000]) }),
    Schema.Struct({ do: Schema.Literals(["append-one", "append-one", "read", "read", "rebuild"]) })
  ])

  it.effect.prop(
    "at any position and after any crash: state, rebuild and replay agree byte for byte with the log",
    [Schema.Array(step).check(Schema.isMaxLength(14)), count],
    ([steps, lag]) =>
      Effect.scoped(
        Effect.gen(function* () {
          const runId = yield* createRun()
          let process = yield* Layer.build(layerProcess(lag, 1_000_000))
          let sent = 0
          const read = Effect.gen(function* () {
            const { decoded, state } = yield* assertLogIsExact(runId)
            const here = Context.get(process, RunStateReader)
            assert.strictEqual((yield* here.current(runId))?.state, state)
            assert.strictEqual((yield* RunStateReader.use((elsewhere) => elsewhere.current(runId)))?.state, state)
            assert.strictEqual(yield* Context.get(process, ReplayStates).stateAt(runId, undefined), state)
            const middle = decoded[Math.floor(decoded.length / 2)]
            assert.strictEqual(
              yield* Context.get(process, ReplayStates).stateAt(runId, middle?.seq ?? 1),
              JSON.stringify(projectAll(runId, decoded.slice(0, middle?.index ?? 0)))
            )
            return state
          })
          for (const step of [...steps, { do: "read" } as const]) {
            const log = Context.get(process, EventLog)
            const added = step.do === "append" ? step.count : step.do === "append-one" ? 1 : 0
            const events = Array.from({ length: added }, () => {
              sent += 1
              return sent % 3 === 0 ? signal(sent, 10) : messageDraft(sent, undefined, "", { sender: `a${sent % 4}` })
            })
            if (added > 0) yield* log.record({ runId, events })
            if (step.do === "crash") process = yield* Layer.build(layerProcess(step.lag, step.cacheBytes))
            if (step.do === "read") yield* read
            if (step.do === "rebuild") {
              const state = yield* read
              const text = yield* Context.get(process, ProjectionRebuild).rebuild(runId, caller)
              assert.isTrue(text.endsWith(state.slice(1)))
            }
          }
        })
      ),
    { arbitrary: { runs: 25, size: 14 } }
  )

  it.effect("are written for every so many events, and when the status changes, not with every append", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const log = yield* EventLog
      const first = yield* storedSeq(runId)
      const { lastSeq: few } = yield* log.record({ runId, events: [messageDraft(1), messageDraft(2)] })
      assert.isBelow(yield* storedSeq(runId), few)
      const { lastSeq: many } = yield* log.record({
        runId,
        events: Array.from({ length: 250 }, (_, at) => messageDraft(3 + at))
      })
      assert.strictEqual(yield* storedSeq(runId), many)
      assert.isBelow(first, many)
      const ended = yield* log.change({
        runId,
        to: "cancelled",
        events: (run, at) => [
          runCompleted({ ts: at, endedAt: at, runId, traceId: run.traceId, runtimeSessionId: run.runtimeSessionId })
        ]
      })
      assert.strictEqual(yield* storedSeq(runId), ended.lastSeq)
    }).pipe(Effect.provide(layerProcess(250, 1_000_000)))
  )

  it.effect("that are too large to be read are made anew, by readers and by the next append", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* createRun()
      const neighbour = yield* createRun()
      yield* appendMessages(runId, 20, 20)
      const { decoded } = yield* assertLogIsExact(runId)
      const state = projectAll(runId, decoded)
      // As it was stored when nothing was bounded: larger than any message that the driver takes.
      const entry = { id: "s", name: "n", ts: "2026-07-01T10:00:00.000Z", payload: { blob: "x".repeat(100_000) } }
      const large = JSON.stringify({ ...state, signals: { signals: Array.from({ length: 200 }, () => entry) } })
      assert.isAbove(large.length, 16 * 1024 * 1024)
      yield* sql`
        INSERT INTO projections (run_id, last_seq, state, updated_at)
        VALUES (${runId}::uuid, ${BigInt(state.timeline.latestSeq)}, ${large}::text::json, now())
        ON CONFLICT (run_id) DO UPDATE SET last_seq = excluded.last_seq, state = excluded.state`
      assert.strictEqual((yield* RunStateReader.use((states) => states.current(runId)))?.state, JSON.stringify(state))
      yield* Effect.gen(function* () {
        const log = yield* EventLog
        // The same group of appends: the one run's past is nothing to the other.
        yield* Effect.all([appendMessages(neighbour, 1), log.record({ runId, events: [messageDraft(21)] })], {
          concurrency: "unbounded"
        })
      }).pipe(Effect.provide(layerProcess(1, 0)))
      yield* assertLogIsExact(runId)
      yield* assertLogIsExact(neighbour)
    })
  )

  it.effect("stay readable after 200 signals of 100 KB", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const log = yield* EventLog
      for (let at = 0; at < 200; at += 20) {
        yield* log.record({ runId, events: Array.from({ length: 20 }, (_, offset) => signal(at + offset, 100_000)) })
      }
      yield* EventLog.use((other) => other.record({ runId, events: [messageDraft(1)] })).pipe(
        Effect.provide(layerProcess(1, 0))
      )
      const { state } = yield* assertLogIsExact(runId)
      const current = yield* RunStateReader.use((states) => states.current(runId))
      assert.strictEqual(current?.state, state)
      assert.isBelow(current?.state.length ?? 0, MAX_STATE_BYTES / 2)
      assert.include(current?.state, "… (cut, 100002 bytes, #")
      const events = yield* EventRepository
      const { events: slice, isLast } = yield* events.slice(runId, { afterSeq: 0 }, 500)
      assert.isFalse(isLast)
      const bytes = slice.reduce((sum, { json }) => sum + json.length, 0)
      assert.isAtLeast(bytes, READ_BYTES)
      assert.isBelow(bytes, READ_BYTES + 200_000)
    })
  )
})
