import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { exportOf, logOf, post, span, traceIdOf } from "./support/Exports.ts"

const settings = { OTLP_SETTLE_MS: "300", OTLP_IDLE_MS: "2000" }

const waiting = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly rows: number }>`SELECT count(*)::int AS rows FROM otlp_inbox`
  return row?.rows ?? 0
})

const ended = (runId: RunId) =>
  until(call("GET", `/runs/${runId}`), ({ body }) => ["completed", "failed"].includes(body.status))

const remove = Effect.fnUntraced(function* (runId: RunId) {
  yield* ended(runId)
  assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
})

/** What ingest has dropped for a reason. */
const dropped = (reason: string) =>
  Effect.map(call("GET", "/metrics"), ({ text }) =>
    Number(new RegExp(`^otlp_dropped_total\\{reason="${reason}"\\} (\\d+)`, "m").exec(text)?.[1])
  )

const keyed = (trace: number, key: string, number = 1) =>
  exportOf([span({ trace, span: number, attributes: { "runplane.run.key": key } })])

const DELETED = "the run of their trace was deleted"

layer(layerTestService({ settings }), { excludeTestServices: true })("the traces of a deleted run", (it) => {
  it.effect("do not make it again, and their sender learns that they are dropped", () =>
    Effect.gen(function* () {
      const runId = runOfKey("anonymous", traceIdOf(30))
      yield* post(exportOf([span({ trace: 30, span: 1 })]))
      yield* remove(runId)
      const sql = yield* PgClient.PgClient
      const left = yield* sql`
        SELECT FROM otlp_seen WHERE run_id = ${runId}::uuid
        UNION ALL SELECT FROM otlp_traces WHERE run_id = ${runId}::uuid`
      assert.strictEqual(left.length, 0)
      const before = yield* dropped("run_deleted")
      const answer = yield* post(
        exportOf([span({ trace: 30, span: 2 }), span({ trace: 30, span: 3 }), span({ trace: 31, span: 1 })])
      )
      assert.deepStrictEqual(JSON.parse(answer.text), {
        partialSuccess: { rejectedSpans: "2", errorMessage: DELETED }
      })
      assert.strictEqual((yield* dropped("run_deleted")) - before, 2)
      yield* ended(runOfKey("anonymous", traceIdOf(31)))
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 404)
    })
  )

  it.effect("that wait in the span inbox are dropped and counted", () =>
    Effect.gen(function* () {
      const before = yield* dropped("run_deleted")
      const sql = yield* PgClient.PgClient
      yield* post(exportOf([span({ trace: 40, span: 1 })]))
      yield* remove(runOfKey("anonymous", traceIdOf(40)))
      // As received by a process that did not see the deletion yet.
      const [row] = yield* sql<{ readonly trace_id: string }>`
        DELETE FROM deleted_traces WHERE trace_id = ${traceIdOf(40)} RETURNING trace_id`
      assert.isDefined(row)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`
            INSERT INTO otlp_inbox (source, trace_id, span_id, kind, received_at, bytes, span)
            SELECT 'anonymous', ${traceIdOf(40)}, 'b00000000000000f', 'span', now(), 10, '{}'::json`
          yield* sql`INSERT INTO deleted_traces (source, trace_id, deleted_at) VALUES ('anonymous', ${traceIdOf(40)}, now())`
        })
      )
      yield* until(waiting, (rows) => rows === 0)
      assert.strictEqual((yield* dropped("run_deleted")) - before, 1)
    })
  )
})

layer(layerTestService({ settings }), { excludeTestServices: true })("the key of a deleted run", (it) => {
  it.effect("goes on with a new run, each time", () =>
    Effect.gen(function* () {
      const lives = [0, 1, 2].map((life) => runOfKey("anonymous", "order-7", life))
      assert.strictEqual(new Set(lives).size, 3)
      for (const [life, runId] of lives.entries()) {
        const answer = yield* post(keyed(100 + life, "order-7"))
        assert.strictEqual(answer.text, "{}")
        const { body } = yield* ended(runId)
        assert.deepInclude(body, { status: "completed", runtimeSessionId: "order-7" })
        yield* assertLogIsExact(runId)
        yield* call("DELETE", `/runs/${runId}`)
      }
      for (const runId of lives) assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 404)
    })
  )

  it.effect("goes on when a trace was bound to the run while that was deleted", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const first = runOfKey("anonymous", "order 8")
      yield* post(keyed(120, "order 8"))
      yield* remove(first)
      yield* sql`
        INSERT INTO otlp_traces (source, trace_id, run_id, run_key)
        VALUES ('anonymous', ${traceIdOf(121)}, ${first}::uuid, 'order 8')`
      yield* post(keyed(121, "order 8"))
      yield* ended(runOfKey("anonymous", "order 8", 1))
      assert.strictEqual((yield* call("GET", `/runs/${first}`)).status, 404)
    })
  )

  it.effect("is not that of a trace that links to it", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 140, span: 1 })]))
      yield* remove(runOfKey("anonymous", traceIdOf(140)))
      yield* post(exportOf([span({ trace: 141, span: 1, links: [140] })]))
      yield* ended(runOfKey("anonymous", traceIdOf(141)))
    })
  )
})

layer(layerTestService({ settings }), { excludeTestServices: true })("what ingest drops", (it) => {
  it.effect("is counted by reason", () =>
    Effect.gen(function* () {
      yield* post(
        exportOf([{ ...span({ trace: 200, span: 1 }), traceId: "0".repeat(32) }, span({ trace: 200, span: 1 })])
      )
      assert.strictEqual(yield* dropped("invalid"), 1)
      const construction = span({ trace: 210, span: 1, attributes: { "gen_ai.operation.name": "create_agent" } })
      yield* post(exportOf([{ ...construction, name: "create_agent writer" }]))
      yield* until(dropped("construction"), (count) => count === 1)
      yield* post(logOf(200, 1, "", { note: "x" }), { path: "/v1/logs" })
      yield* post(logOf(200, 1, "app.started", { note: "x" }), { path: "/v1/logs" })
      yield* until(dropped("log_unread"), (count) => count >= 1)
      yield* until(dropped("log_unread"), (count) => count === 2)
      yield* post(logOf(0, 1, "app.started", { note: "x" }, "0".repeat(32)), { path: "/v1/logs" })
      assert.strictEqual(yield* dropped("without_span"), 1)
    })
  )
})
