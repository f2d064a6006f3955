import { createHash } from "node:crypto"
import { create, toBinary } from "@bufbuild/protobuf"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import {
  type RawFrame,
  type RunId,
  runCompleted,
  runStarted,
  sessionStateChanged,
  streamOpened
} from "@runplane/domain"
import { DecisionMode } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import type { LockedRun, ObservedFrame } from "../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { EventLogSettings } from "../../src/event-log/EventLogSettings.ts"
import { LiveEvents } from "../../src/event-log/subscribe/LiveEvents.ts"
import { messageDraft } from "../support/Appends.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun, readLog } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const RECEIVED_AT = "2026-07-01T10:00:01.000Z"

const vote = (
  runId: RunId,
  number: number,
  more: { readonly ambient?: boolean; readonly sender?: string } = {}
): ObservedFrame =>
  observed(
    {
      kind: "stream-envelope",
      ambient: more.ambient ?? false,
      envelope: {
        macpVersion: "1.0",
        mode: "macp.mode.decision.v1",
        messageType: "Vote",
        messageId: `m${number}`,
        sessionId: runId,
        sender: more.sender ?? "agent://a",
        timestampUnixMs: 1,
        payload: toBinary(
          DecisionMode.VotePayloadSchema,
          create(DecisionMode.VotePayloadSchema, { proposalId: "p1", vote: "APPROVE", reason: `vote ${number}` })
        )
      }
    } satisfies RawFrame,
    RECEIVED_AT
  )

/** What a runtime says on the stream of a message that it has refused. */
const refusal = (runId: RunId, number: number): ObservedFrame =>
  observed(
    {
      kind: "stream-inline-error",
      error: {
        code: "POLICY_DENIED",
        message: "not yet",
        sessionId: runId,
        messageId: `m${number}`,
        details: new Uint8Array()
      }
    } satisfies RawFrame,
    RECEIVED_AT
  )

const started = (run: LockedRun, at: string) => [
  runStarted({
    ts: at,
    startedAt: at,
    runId: run.id,
    traceId: run.traceId,
    modeName: run.modeName,
    runtimeKind: run.runtimeKind
  })
]
const completed = (run: LockedRun, at: string) => [
  runCompleted({ ts: at, endedAt: at, runId: run.id, traceId: run.traceId, runtimeSessionId: run.runtimeSessionId })
]

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)))("EventLog", (it) => {
  it.effect("numbers events and keeps projection and metrics equal to a rebuild", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const first = yield* log.observe({ runId, cursor: 0, frames: [vote(runId, 1), vote(runId, 2)] })
      assert.strictEqual(first.cursor, 2)
      const second = yield* log.observe({ runId, cursor: 2, frames: [vote(runId, 3)] })
      assert.strictEqual(second.lastIndex, (yield* readLog(runId)).events.length)
      const { decoded, raw } = yield* assertLogIsExact(runId)
      assert.strictEqual(raw.length, 3)
      assert.deepStrictEqual(
        decoded.filter((event) => event.type === "message.received").map((event) => event.recorded.data["messageId"]),
        ["m1", "m2", "m3"]
      )
      // The sender is announced once, although three envelopes carry it.
      assert.strictEqual(decoded.filter((event) => event.type === "participant.seen").length, 1)
    })
  )

  it.effect("drops envelopes whose message id the run already has, without moving the cursor for them", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* log.observe({ runId, cursor: 0, frames: [vote(runId, 1), vote(runId, 1), vote(runId, 2)] })
      const again = yield* log.observe({ runId, cursor: 2, frames: [vote(runId, 2), vote(runId, 3), vote(runId, 1)] })
      assert.strictEqual(again.cursor, 3)
      const { decoded } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual(
        decoded.filter((event) => event.type === "message.received").map((event) => event.recorded.data["messageId"]),
        ["m1", "m2", "m3"]
      )
    })
  )

  it.effect("stores a message that was refused at first, in one append or in two", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const sql = yield* PgClient.PgClient
      const [together, apart] = [yield* createRun(), yield* createRun()]
      yield* log.observe({ runId: together, cursor: 0, frames: [refusal(together, 1), vote(together, 1)] })
      yield* log.observe({ runId: apart, cursor: 0, frames: [refusal(apart, 1)] })
      yield* log.observe({ runId: apart, cursor: 0, frames: [vote(apart, 1)] })
      for (const runId of [together, apart]) {
        const { decoded, head } = yield* assertLogIsExact(runId)
        assert.deepStrictEqual(
          decoded.filter(({ type }) => type === "message.received").map((event) => event.recorded.data["messageId"]),
          ["m1"]
        )
        assert.strictEqual(Number(head?.stream_cursor), 1)
        const rows = yield* sql`SELECT accepted FROM outbound_messages WHERE run_id = ${runId}`
        assert.deepStrictEqual(rows, [{ accepted: true }])
      }
    })
  )

  it.effect("stores the acceptance of a message whose first append was refused beside its refusal", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const [, late] = yield* Effect.all(
        [
          log.observe({ runId, frames: [refusal(runId, 1)] }),
          Effect.flip(log.observe({ runId, cursor: 7, frames: [vote(runId, 1)] }))
        ],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(late._tag, "StreamCursorMoved")
      const appended = yield* log.observe({ runId, cursor: 0, frames: [vote(runId, 1)] })
      assert.strictEqual(appended.cursor, 1)
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("takes message ids of any length, and still knows them again", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const long = (number: number): ObservedFrame => {
        const { frame, receivedAt } = vote(runId, number)
        if (frame.kind !== "stream-envelope") return observed(frame, receivedAt)
        // Random digits: text that repeats itself would be compressed below the limit of an index.
        const messageId = `${Array.from({ length: 400 }, (_, position) => createHash("sha1").update(`${position}`).digest("hex")).join("")}${number}`
        return observed({ ...frame, envelope: { ...frame.envelope, messageId } }, receivedAt)
      }
      const first = yield* log.observe({ runId, cursor: 0, frames: [long(1), long(2)] })
      assert.strictEqual(first.cursor, 2)
      const again = yield* log.observe({ runId, cursor: 2, frames: [long(2), long(3)] })
      assert.strictEqual(again.cursor, 3)
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("never moves the cursor for ambient envelopes", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const appended = yield* log.observe({ runId, frames: [vote(runId, 1, { ambient: true })] })
      assert.strictEqual(appended.cursor, 0)
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("stops the second of two observers of one run by the compare-and-set", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* log.observe({ runId, cursor: 0, frames: [vote(runId, 1)] })
      const lost = yield* Effect.flip(log.observe({ runId, cursor: 0, frames: [vote(runId, 9)] }))
      assert.strictEqual(lost._tag, "StreamCursorMoved")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.isFalse(decoded.some((event) => event.recorded.data["messageId"] === "m9"))
    })
  )

  it.effect("stores in the rightful append what a refused one had brought along", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* log.observe({ runId, cursor: 0, frames: [vote(runId, 1)] })
      const late = { runId, cursor: 0, frames: [vote(runId, 1), vote(runId, 2), vote(runId, 3)] }
      yield* Effect.flip(log.observe(late))
      const appended = yield* log.observe({ runId, cursor: 1, frames: [vote(runId, 2), vote(runId, 3)] })
      assert.strictEqual(appended.cursor, 3)
      const { decoded } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual(
        decoded.filter((event) => event.type === "message.received").map((event) => event.recorded.data["messageId"]),
        ["m1", "m2", "m3"]
      )
    })
  )

  it.effect("keeps every run exact when many are written at once", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runIds = yield* Effect.forEach(Array.from({ length: 16 }), () => createRun(), { concurrency: "unbounded" })
      yield* Effect.forEach(
        runIds,
        (runId) =>
          Effect.gen(function* () {
            let cursor = 0
            for (let step = 0; step < 10; step++) {
              const appended = yield* log.observe({
                runId,
                cursor,
                frames: [vote(runId, step * 2, { sender: `agent://${step % 3}` }), vote(runId, step * 2 + 1)]
              })
              cursor = appended.cursor
            }
          }),
        { concurrency: "unbounded", discard: true }
      )
      for (const runId of runIds) {
        const { head } = yield* assertLogIsExact(runId)
        assert.strictEqual(Number(head?.stream_cursor), 20)
      }
    })
  )

  it.effect("lets a refused or failing append of a group leave the others untouched", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const good = yield* createRun()
      const bad = yield* createRun()
      const boom = Effect.fail(new SqlError({ reason: new UnknownError({ cause: new Error("boom") }) }))
      const outcomes = yield* Effect.all(
        [
          Effect.result(log.record({ runId: bad, events: [messageDraft(1)], also: () => boom })),
          Effect.result(log.observe({ runId: good, cursor: 0, frames: [vote(good, 1)] })),
          Effect.result(log.observe({ runId: good, cursor: 7, frames: [vote(good, 2)] }))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        outcomes.map((outcome) => (outcome._tag === "Failure" ? outcome.failure._tag : "stored")),
        ["AppendFailed", "stored", "StreamCursorMoved"]
      )
      yield* assertLogIsExact(good)
      const { decoded } = yield* assertLogIsExact(bad)
      assert.deepStrictEqual(
        decoded.map(({ type }) => type),
        ["run.created"]
      )
    })
  )

  it.effect("ends a run once", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const change = (to: "starting" | "binding_session" | "running" | "completed", events = completed) =>
        log.change({ runId, to, events })
      yield* change("starting", started)
      const skipped = yield* change("completed")
      assert.deepStrictEqual([skipped.change, skipped.status, skipped.events.length], ["rejected", "starting", 0])
      yield* change("binding_session", () => [])
      yield* change("running", () => [])
      const outcomes = yield* Effect.all([change("completed"), change("completed"), change("completed")], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(outcomes.map((outcome) => outcome.change).sort(), ["applied", "no-op", "no-op"])
      const { decoded, head } = yield* assertLogIsExact(runId)
      assert.strictEqual(head?.status, "completed")
      assert.strictEqual(decoded.filter((event) => event.type === "run.completed").length, 1)
    })
  )

  it.effect("writes what follows from changes that share a transaction: of each run the last", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const sql = yield* PgClient.PgClient
      const runIds = yield* Effect.forEach([1, 2, 3], () => createRun())
      const row = (runId: RunId) => sql`
        INSERT INTO sessions (run_id, runtime_kind, runtime_session_id, mode_name, mode_version, configuration_version,
                              policy_version, initiator_participant_id, session_state, capabilities, participants,
                              created_at, updated_at)
        VALUES (${runId}::uuid, 'rust', ${runId}, '', '', '', '', '', 'OPEN', '{}', '{}', now(), now())`
      const state = (at: string, sessionId: string, name: "OPEN" | "SUSPENDED") =>
        sessionStateChanged(at, { sessionId, state: name })
      yield* Effect.forEach(
        runIds,
        (runId) =>
          Effect.all(
            [
              log.change({ runId, to: "starting", events: started }),
              log.change({ runId, to: "binding_session", events: () => [], also: () => Effect.asVoid(row(runId)) }),
              log.change({
                runId,
                to: "running",
                events: (_, at) => [state(at, runId, "OPEN"), streamOpened(at, runId, { status: "opened" })]
              }),
              log.change({ runId, to: "suspended", events: (_, at) => [state(at, runId, "SUSPENDED")] })
            ],
            { concurrency: "unbounded" }
          ),
        { concurrency: "unbounded" }
      )
      const failure = { errorCode: "SESSION_EXPIRED", errorMessage: "on purpose" }
      const [first, second, third] = runIds
      if (first === undefined || second === undefined || third === undefined) return assert.fail()
      yield* Effect.all(
        [
          log.change({ runId: first, to: "failed", events: () => [], failure }),
          log.change({ runId: second, to: "completed", events: completed })
        ],
        { concurrency: "unbounded" }
      )
      const found = yield* sql<{ readonly line: string }>`
        SELECT concat_ws(' ', r.status, r.status_revision, r.started_at IS NOT NULL, r.ended_at IS NOT NULL,
                         r.error_code, r.error_message, r.metadata ->> 'error', s.session_state,
                         s.stream_connected_at IS NOT NULL, s.stream_disconnected_at IS NOT NULL) AS line
        FROM runs r JOIN sessions s ON s.run_id = r.id
        WHERE r.id = ANY(${runIds}::text[]::uuid[]) ORDER BY array_position(${runIds}::text[], r.id::text)`
      assert.deepStrictEqual(
        found.map(({ line }) => line),
        [
          "failed 5 t t SESSION_EXPIRED on purpose on purpose SUSPENDED t f",
          "completed 5 t t SUSPENDED t f",
          "suspended 4 t f SUSPENDED t f"
        ]
      )
      for (const runId of runIds) yield* assertLogIsExact(runId)
    })
  )

  it.effect("delivers exactly the committed events to subscribers, in order", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const live = yield* LiveEvents
      const runId = yield* createRun()
      const received = yield* Queue.unbounded<string>()
      const subscription = yield* live.subscribe(runId)
      yield* log.observe({ runId, cursor: 0, frames: [vote(runId, 1)] })
      yield* log.record({ runId, events: [streamOpened(RECEIVED_AT, runId, { status: "reconnecting" })] })
      for (let batch = 0; batch < 2; batch++) {
        const item = yield* subscription.take
        if (item._tag === "Batch")
          yield* Queue.offerAll(
            received,
            item.events.map((event) => event.json)
          )
      }
      const stored = (yield* readLog(runId)).events.slice(1).map((row) => row.event)
      assert.deepStrictEqual(yield* Queue.takeAll(received), stored as [string, ...Array<string>])
    })
  )
})

const small = Layer.effect(
  EventLogSettings,
  Effect.map(EventLogSettings, (settings) => ({ ...settings, appendBytes: 2_000 }))
)

layer(layerTestLog.pipe(Layer.provide(small), Layer.provideMerge(layerTestDatabase)))(
  "an append of many bytes",
  (it) => {
    it.effect("is stored in turn, on one cursor, and answered as one", () =>
      Effect.gen(function* () {
        const log = yield* EventLog
        const runId = yield* createRun()
        const frames = Array.from({ length: 10 }, (_, position) => vote(runId, position + 1))
        const appended = yield* log.observe({ runId, cursor: 0, frames })
        const { decoded } = yield* assertLogIsExact(runId)
        assert.deepStrictEqual([appended.cursor, appended.events.length], [10, decoded.length - 1])
        const sql = yield* PgClient.PgClient
        const transactions = yield* sql`SELECT DISTINCT xmin::text FROM raw_events WHERE run_id = ${runId}::uuid`
        assert.strictEqual(transactions.length, 4)
        const late = yield* Effect.flip(log.observe({ runId, cursor: 0, frames: [vote(runId, 11), ...frames] }))
        assert.strictEqual(late._tag, "StreamCursorMoved")
        assert.strictEqual((yield* readLog(runId)).raw.length, 10)
      })
    )
  }
)
