import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { draftEvent, emptyRunMetrics, emptyRunState, type RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { ProjectionSettings } from "../../src/event-log/projection/ProjectionSettings.ts"
import { EVENTS_PER_FOLD } from "../../src/event-log/projection/ReplayLog.ts"
import { RunRepository } from "../../src/event-log/runs/RunRepository.ts"
import { AuditTrail } from "../../src/platform/audit/AuditTrail.ts"
import { ProjectionRebuild } from "../../src/runs/ProjectionRebuild.ts"
import { appendMessages } from "../support/Appends.ts"
import { layerTestAdministration, layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun, readLog } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const caller = {
  actor: { actorId: "key:1", actorType: "api-key", role: "admin" },
  requestId: "req-1",
  address: "127.0.0.1"
} as const

const layerRebuild = ProjectionRebuild.layer.pipe(
  Layer.provide([AuditTrail.layer, RunRepository.layer, layerTestAdministration]),
  Layer.provideMerge(layerTestLog),
  Layer.provideMerge(layerTestDatabase),
  // What is stored is compared, so it must not lag behind.
  Layer.provide(Layer.succeed(ProjectionSettings, { lagEvents: 1, lagMs: 0, cacheBytes: 1_000_000 }))
)

/** The log of a second process on the same database, with a memory of its own. */
const layerOtherProcess = Layer.fresh(layerTestLog)

const vote = (number: number) =>
  draftEvent(
    "proposal.updated",
    {
      ts: "2026-07-01T10:00:00.000Z",
      subject: { kind: "proposal", id: `p${number % 7}` },
      source: { kind: "runtime", name: "rust-runtime", rawType: "Vote" }
    },
    {
      messageType: "Vote",
      messageId: `m${number}`,
      sender: `agent://${number % 5}`,
      decodedPayload: {
        proposalId: `p${number % 7}`,
        vote: number % 3 === 0 ? "REJECT" : "APPROVE",
        confidence: 1 / (number + 1)
      }
    }
  )

const appendVotes = Effect.fnUntraced(function* (runId: RunId, from: number, count: number, perAppend: number) {
  const log = yield* EventLog
  for (let sent = 0; sent < count; sent += perAppend) {
    const events = Array.from({ length: Math.min(perAppend, count - sent) }, (_, offset) => vote(from + sent + offset))
    yield* log.record({ runId, events })
  }
})

const spoil = Effect.fnUntraced(function* (runId: RunId, state: string) {
  const sql = yield* PgClient.PgClient
  yield* sql`UPDATE projections SET state = ${state}::text::json WHERE run_id = ${runId}::uuid`
  yield* sql`UPDATE run_metrics SET metrics = '{}' WHERE run_id = ${runId}::uuid`
})

const rebuild = (runId: string) => ProjectionRebuild.use((projections) => projections.rebuild(runId, caller))

layer(layerRebuild)("the rebuild of a projection", (it) => {
  it.effect("is the live projection byte for byte, over many pages", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendVotes(runId, 0, 2 * EVENTS_PER_FOLD + 17, 100)
      const live = yield* readLog(runId)
      yield* spoil(runId, JSON.stringify(emptyRunState(runId)))
      const text = yield* rebuild(runId)
      const rebuilt = yield* readLog(runId)
      assert.deepStrictEqual(rebuilt.projection, live.projection)
      const latestSeq = Number(live.head?.last_seq)
      assert.strictEqual(text, `{"rebuilt":true,"latestSeq":${latestSeq},${live.projection?.state.slice(1)}`)
    })
  )

  it.effect("leaves no process with the projection it remembers", () =>
    Effect.gen(function* () {
      const here = yield* EventLog
      const elsewhere = yield* Layer.build(layerOtherProcess)
      const there = Context.get(elsewhere, EventLog)
      const runId = yield* createRun()
      yield* here.record({ runId, events: [vote(1)] })
      yield* there.record({ runId, events: [vote(2)] })
      // Both remember what they have made of it: the one at the last seq, the other one before.
      const { state: right } = yield* there.record({ runId, events: [] })
      const wrong = { ...emptyRunState(runId), timeline: right.timeline }
      yield* there.rebuild({ runId, refold: () => Effect.succeed({ state: wrong, metrics: emptyRunMetrics(runId) }) })
      const { state } = yield* here.record({ runId, events: [] })
      assert.deepStrictEqual(state, wrong)

      yield* rebuild(runId)
      yield* there.record({ runId, events: [] })
      yield* assertLogIsExact(runId)
      yield* there.record({ runId, events: [vote(3)] })
      yield* here.record({ runId, events: [vote(4)] })
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("is made by the next append, too, when what is stored cannot be read any more", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendVotes(runId, 0, 20, 5)
      yield* spoil(runId, `{"of":"another time"}`)
      // A process that remembers nothing has to read the stored projection, and cannot.
      yield* EventLog.use((log) => log.record({ runId, events: [vote(20)] })).pipe(Effect.provide(layerOtherProcess))
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("is exact while the run goes on", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendVotes(runId, 0, EVENTS_PER_FOLD, 100)
      yield* Effect.all([appendVotes(runId, 1_000, 600, 3), Effect.forEach([1, 2, 3, 4], () => rebuild(runId))], {
        concurrency: "unbounded"
      })
      const { decoded } = yield* assertLogIsExact(runId)
      assert.lengthOf(decoded, 1 + EVENTS_PER_FOLD + 600)
    })
  )

  it.effect("changes nothing else: no event, no cursor, no status", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, 3)
      const before = yield* readLog(runId)
      yield* rebuild(runId)
      assert.deepStrictEqual(yield* readLog(runId), before)
    })
  )

  it.effect("is audited in its transaction", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* rebuild(runId)
      const sql = yield* PgClient.PgClient
      assert.deepStrictEqual(
        [...(yield* sql`SELECT actor, action, resource, request_id FROM audit_log WHERE resource_id = ${runId}`)],
        [{ actor: "key:1", action: "run.rebuild", resource: "run", request_id: "req-1" }]
      )
    })
  )

  it.effect("does not know a run that is not there", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(rebuild("00000000-0000-4000-8000-000000000009"))
      assert.strictEqual(failure._tag === "NotFound" ? failure.errorCode : failure._tag, "RUN_NOT_FOUND")
    })
  )
})
