import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { MAX_BATCH_RUNS } from "@runplane/api"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun, endRun } from "../../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"

const batch = (operation: string, runIds: unknown) => call("POST", `/runs/batch/${operation}`, { body: { runIds } })
const actionsOf = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly action: string }>`
    SELECT action FROM audit_log WHERE resource_id = ${runId} ORDER BY created_at`
  return rows.map((row) => row.action)
})

layer(layerTestService(), { excludeTestServices: true })("batch operations", (it) => {
  it.effect("cancels each run with the reason of the batch, in the order given", () =>
    Effect.gen(function* () {
      const delegated = RunId.make(randomUUID())
      const fake = yield* RuntimeFake
      yield* fake.openSession({ sessionId: delegated, participants: ["a"], initiator: "a" })
      yield* call("POST", "/runs", {
        body: descriptor({ session: { sessionId: delegated, metadata: { cancellationDelegated: true } } })
      })
      yield* awaitStatus(delegated, "running")
      const impossible = yield* createRun()
      const ended = yield* endedRun
      const unknown = randomUUID()

      const answer = yield* batch("cancel", [unknown, delegated, impossible, ended])
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepStrictEqual(answer.body, [
        { runId: unknown, status: "failed", error: `run ${unknown} not found` },
        { runId: delegated, status: "cancelled" },
        {
          runId: impossible,
          status: "failed",
          error: "run has no cancelCallback in metadata and no policy delegation - cannot cancel from control-plane"
        },
        {
          runId: ended,
          status: "failed",
          error: `cannot transition run ${ended} from 'cancelled' to 'cancelled'`
        }
      ])
      const { body } = yield* call("GET", `/runs/${delegated}/events?type=run.cancelled`)
      assert.strictEqual(body.data[0].data.reason, "batch cancel")
      assert.deepStrictEqual(yield* actionsOf(delegated), ["run.create", "run.cancel"])
    })
  )

  it.effect("archives each run, a run that is named twice as one", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* createRun(), yield* endedRun]
      const { body } = yield* batch("archive", [one, two, one, "nonsense"])
      assert.deepStrictEqual(body, [
        { runId: one, status: "archived" },
        { runId: two, status: "archived" },
        { runId: one, status: "archived" },
        { runId: "nonsense", status: "failed", error: "run nonsense not found" }
      ])
      assert.deepStrictEqual(yield* actionsOf(one), ["run.archive"])
    })
  )

  it.effect("deletes terminal runs only", () =>
    Effect.gen(function* () {
      const [ended, queued] = [yield* endedRun, yield* createRun()]
      const { body } = yield* batch("delete", [ended, queued])
      assert.deepStrictEqual(body, [
        { runId: ended, status: "deleted" },
        {
          runId: queued,
          status: "failed",
          error: "only terminal runs (completed, failed, cancelled) can be deleted"
        }
      ])
      assert.strictEqual((yield* call("GET", `/runs/${ended}`)).status, 404)
    })
  )

  it.effect("deletes runs whose events stand between each other's", () =>
    Effect.gen(function* () {
      const runIds = yield* Effect.forEach(Array.from({ length: 24 }), () => createRun())
      yield* Effect.forEach(runIds, (runId) => appendMessages(runId, 20, 2), { concurrency: "unbounded" })
      yield* Effect.forEach(runIds, endRun)
      const { body } = yield* batch("delete", runIds)
      assert.deepStrictEqual(
        body,
        runIds.map((runId) => ({ runId, status: "deleted" }))
      )
    })
  )

  it.effect("exports an array of bundles with canonical events and without raw ones, in the order given", () =>
    Effect.gen(function* () {
      const runIds = [yield* createRun(), yield* createRun(), yield* createRun()]
      for (const [index, runId] of runIds.entries()) yield* appendMessages(runId, index * 700, 500)
      const { body, headers, status } = yield* batch("export", [...runIds].reverse())
      assert.strictEqual(status, 201)
      assert.match(headers.get("content-type") ?? "", /^application\/json/)
      assert.deepStrictEqual(
        body.map((bundle: { run: { id: string } }) => bundle.run.id),
        [...runIds].reverse()
      )
      assert.deepStrictEqual(
        body.map((bundle: { canonicalEvents: ReadonlyArray<unknown> }) => bundle.canonicalEvents.length),
        [1401, 701, 1]
      )
      for (const bundle of body) assert.deepStrictEqual(bundle.rawEvents, [])
      const single = yield* call("GET", `/runs/${runIds[1]}/export`)
      // The digest covers the time of the export.
      const timeless = { exportedAt: "", digest: "" }
      assert.deepStrictEqual({ ...body[1], ...timeless }, { ...single.body, ...timeless })
    })
  )

  it.effect("exports nothing when one of the runs is unknown", () =>
    Effect.gen(function* () {
      const unknown = randomUUID()
      const answer = yield* batch("export", [yield* createRun(), unknown])
      assert.strictEqual(answer.status, 404)
      assert.strictEqual(answer.body.errorCode, "RUN_NOT_FOUND")
      assert.strictEqual(answer.body.message, `run ${unknown} not found`)
      const odd = yield* batch("export", ["nonsense"])
      assert.strictEqual(odd.status, 404)
    })
  )

  for (const operation of ["cancel", "archive", "delete", "export"]) {
    for (const [what, runIds, message] of [
      ["missing runIds", undefined, ["each value in runIds must be a string", "runIds must be an array"]],
      ["runIds that is not an array", "x", ["each value in runIds must be a string", "runIds must be an array"]],
      ["other items than strings", [1], ["each value in runIds must be a string"]],
      [
        "too many runs",
        Array.from({ length: MAX_BATCH_RUNS + 1 }, () => "x"),
        [`runIds must contain no more than ${MAX_BATCH_RUNS} elements`]
      ]
    ] as const) {
      it.effect(`refuses ${what} on batch/${operation}`, () =>
        Effect.gen(function* () {
          const answer = yield* batch(operation, runIds)
          assert.strictEqual(answer.status, 400)
          assert.strictEqual(answer.body.errorCode, "VALIDATION_ERROR")
          assert.deepStrictEqual(answer.body.message, message)
        })
      )
    }
    it.effect(`answers an empty array for no runs on batch/${operation}, other keys ignored`, () =>
      Effect.gen(function* () {
        const answer = yield* call("POST", `/runs/batch/${operation}`, { body: { runIds: [], other: true } })
        assert.strictEqual(answer.status, 201, answer.text)
        assert.deepStrictEqual(answer.body, [])
      })
    )
  }
})
