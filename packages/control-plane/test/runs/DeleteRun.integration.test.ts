import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { appendMessages, messageDraft } from "../support/Appends.ts"
import { endedRun, endRun } from "../support/EndedRuns.ts"
import { call, descriptor, layerTestService, openStream } from "../support/HttpService.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitStatus } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { auditOf, post, remove } from "./AuditedCalls.ts"

layer(layerTestService(), { excludeTestServices: true })("DELETE /runs/:id", (it) => {
  /** Rows of each table that names a run. Webhook deliveries belong to their subscription. */
  const rowsOf = Effect.fnUntraced(function* (runId: string) {
    const sql = yield* PgClient.PgClient
    const tables = yield* sql<{ readonly name: string }>`
      SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'run_id'
        -- Deliveries are still owed; the sums over runs forget it a moment later; a tombstone is what is to stay.
        AND table_name NOT IN ('webhook_deliveries', 'tally_changes', 'tallied_runs', 'run_tombstones')`
    const counts: Record<string, number> = {}
    for (const { name } of [...tables, { name: "runs" }]) {
      const [row] = yield* sql.unsafe<{ readonly count: number }>(
        `SELECT count(*)::int AS count FROM ${name} WHERE ${name === "runs" ? "id" : "run_id"} = $1::uuid`,
        [runId]
      )
      counts[name] = row?.count ?? 0
    }
    return counts
  })

  const observedRun = Effect.gen(function* () {
    const runId = RunId.make(randomUUID())
    const fake = yield* RuntimeFake
    yield* fake.openSession({ sessionId: runId, participants: ["agent://lead"], initiator: "agent://lead" })
    yield* post("/runs", descriptor({ session: { sessionId: runId } }))
    yield* awaitStatus(runId, "running")
    yield* fake.awaitOpenStreams("StreamSession", 1, runId)
    return runId
  })

  it.effect("removes every row of the run, answers 204 without a body, and is audited", () =>
    Effect.gen(function* () {
      const runId = yield* observedRun
      const fake = yield* RuntimeFake
      yield* fake.accept(runId, { messageType: "Proposal", messageId: "m1", sender: "agent://lead" })
      yield* post(`/runs/${runId}/artifacts`, { kind: "log", label: "l" })
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      const before = yield* rowsOf(runId)
      for (const table of ["canonical_events", "raw_events", "outbound_messages", "projections", "run_metrics"]) {
        assert.isAbove(before[table] ?? 0, 0, table)
      }
      for (const table of ["run_heads", "sessions", "artifacts", "runs"]) assert.isAbove(before[table] ?? 0, 0, table)

      const answer = yield* remove(runId)
      assert.strictEqual(answer.status, 204)
      assert.strictEqual(answer.text, "")
      const after = yield* rowsOf(runId)
      assert.deepStrictEqual(
        Object.entries(after).filter(([, count]) => count > 0),
        []
      )
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 404)
      assert.strictEqual((yield* remove(runId)).status, 404)
      assert.deepStrictEqual((yield* auditOf(runId)).at(-1), {
        action: "run.delete",
        resource: "run",
        request_id: "req-9"
      })
    })
  )

  it.effect("refuses a run that has not ended", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const answer = yield* remove(runId)
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(answer.body.errorCode, "VALIDATION_ERROR")
      assert.strictEqual(answer.body.message, "only terminal runs (completed, failed, cancelled) can be deleted")
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 200)
    })
  )

  it.effect("frees the idempotency key and the session for a new run with an empty log", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const given = descriptor({ session: { sessionId }, execution: { idempotencyKey: sessionId } })
      const runId = RunId.make((yield* post("/runs", given)).body.runId)
      yield* appendMessages(runId, 5)
      yield* endRun(runId)
      yield* remove(runId)
      const again = yield* post("/runs", given)
      assert.strictEqual(again.status, 202)
      assert.strictEqual(again.body.runId, runId)
      yield* awaitStatus(runId, "starting")
      const { decoded } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual(
        decoded.map((event) => event.type),
        ["run.created", "run.started"]
      )
    })
  )

  it.effect(
    "ends the observer of a run that was ended behind its back, and observes a new run of the same session",
    () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* observedRun
        yield* endRun(runId)
        assert.strictEqual((yield* remove(runId)).status, 204)
        assert.strictEqual(yield* fake.openStreams("StreamSession", runId), 0)
        yield* fake.transition(runId, "RESUMED")
        yield* post("/runs", descriptor({ session: { sessionId: runId } }))
        yield* awaitStatus(runId, "running")
        yield* fake.awaitOpenStreams("StreamSession", 1, runId)
        yield* fake.transition(runId, "RESOLVED")
        yield* awaitStatus(runId, "completed")
        yield* assertLogIsExact(runId)
      })
  )

  it.effect("ends the streams of the run", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      const stream = yield* openStream(`/runs/${runId}/stream`)
      assert.strictEqual((yield* stream.next)?.event, "snapshot")
      yield* remove(runId)
      assert.deepStrictEqual(yield* stream.rest, [])
    })
  )

  it.effect("fails the appends that wait for the deleted run, and keeps the others of their group", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const gone = yield* endedRun
      const other = yield* createRun()
      yield* Effect.all(
        [
          Effect.forEach(
            Array.from({ length: 50 }, (_, number) => number),
            (number) => Effect.exit(log.record({ runId: gone, events: [messageDraft(number)] })),
            { concurrency: "unbounded" }
          ),
          appendMessages(other, 50),
          remove(gone)
        ],
        { concurrency: "unbounded" }
      )
      const failure = yield* Effect.flip(log.record({ runId: gone, events: [messageDraft(1)] }))
      assert.strictEqual(failure._tag, "RunNotFound")
      assert.lengthOf((yield* assertLogIsExact(other)).decoded, 51)
      assert.deepStrictEqual(
        Object.entries(yield* rowsOf(gone)).filter(([, count]) => count > 0),
        []
      )
    })
  )
})
