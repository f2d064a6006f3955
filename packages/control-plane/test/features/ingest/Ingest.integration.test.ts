import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { exportOf, gzipped, post, span, toolSpan, traceIdOf } from "./support/Exports.ts"

const settings = { OTLP_SETTLE_MS: "300", OTLP_IDLE_MS: "2000", OTLP_PARENT_WAIT_MS: "2000" }
const runOf = (trace: number, source = "anonymous") => runOfKey(source, traceIdOf(trace))

/** Rows of the span inbox. */
const waiting = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly rows: number }>`SELECT count(*)::int AS rows FROM otlp_inbox`
  return row?.rows ?? 0
})

/** The log of a run once it has ended. */
const ended = Effect.fnUntraced(function* (trace: number, status = "completed") {
  const run = yield* until(call("GET", `/runs/${runOf(trace)}`), ({ body }) =>
    ["completed", "failed"].includes(body.status)
  )
  assert.strictEqual(run.body.status, status)
  return yield* assertLogIsExact(runOf(trace))
})

layer(layerTestService({ settings }), { excludeTestServices: true })("received spans", (it) => {
  it.effect("become a run, each of them once", () =>
    Effect.gen(function* () {
      const body = exportOf([span({ trace: 1, span: 1 }), span({ trace: 1, span: 2, parent: 1 })])
      for (const sent of [body, gzipped(body), body]) {
        const headers = sent instanceof Uint8Array ? { "content-encoding": "gzip" } : {}
        const answer = yield* post(sent, { headers })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.text, "{}")
      }
      const { decoded } = yield* ended(1)
      assert.strictEqual(decoded.filter(({ type }) => type === "run.created").length, 1)
      assert.strictEqual(yield* waiting, 0)
      const run = yield* call("GET", `/runs/${traceIdOf(1)}`)
      assert.deepInclude(run.body, { id: runOf(1), status: "completed", runtimeKind: "otlp", modeName: "otlp.trace" })
    })
  )

  it.effect("of traces that link to each other are one run", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 10, span: 1 })]))
      yield* until(waiting, (rows) => rows === 0)
      yield* post(exportOf([span({ trace: 11, span: 2, links: [10] })]))
      yield* ended(10)
      assert.strictEqual((yield* call("GET", `/runs/${runOf(11)}`)).status, 404)
    })
  )

  it.effect("that arrive after the end are appended, and make a new seal", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 20, span: 1 })]))
      const before = yield* ended(20)
      yield* post(exportOf([span({ trace: 20, span: 2, parent: 1, name: "chat gpt-4o" })]))
      yield* until(waiting, (rows) => rows === 0)
      const after = yield* ended(20)
      assert.strictEqual(after.decoded.filter(({ type }) => type === "run.completed").length, 1)
      const seal = yield* call("GET", `/runs/${runOf(20)}/seal`)
      assert.strictEqual(seal.body.events, after.decoded.length)
      assert.isAtLeast(after.decoded.length, before.decoded.length)
    })
  )

  it.effect("with the id of a session enrich the run of the session", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const { body } = yield* call("POST", "/runs", { body: descriptor({ session: { sessionId } }) })
      const attributes = { "macp.session.id": sessionId }
      yield* post(exportOf([toolSpan(40, 2), span({ trace: 40, span: 1, attributes })]))
      yield* until(waiting, (rows) => rows === 0)
      const { decoded } = yield* assertLogIsExact(RunId.make(body.runId))
      assert.strictEqual(decoded.filter(({ type }) => type === "tool.called").length, 1)
      assert.strictEqual(decoded.filter(({ type }) => type === "run.created").length, 1)
      assert.strictEqual((yield* call("GET", `/runs/${runOf(40)}`)).status, 404)
    })
  )
})

layer(layerTestService({ settings: { ...settings, OTLP_SETTLE_MS: "3600000" } }), { excludeTestServices: true })(
  "an open run of spans",
  (it) => {
    it.effect("has no session to control", () =>
      Effect.gen(function* () {
        // The run key decides the run, so the trace does not wait for its root.
        const attributes = { "runplane.run.key": "order 7" }
        yield* post(exportOf([span({ trace: 1, span: 2, parent: 1, attributes })]))
        const runId = runOfKey("anonymous", "order 7")
        const run = yield* until(call("GET", `/runs/${runId}`), ({ status }) => status === 200)
        assert.deepInclude(run.body, { status: "running", runtimeSessionId: "order 7" })
        for (const action of ["cancel", "suspend", "resume"]) {
          const answer = yield* call("POST", `/runs/${runId}/${action}`, { body: {} })
          assert.deepInclude(answer.body, { statusCode: 409, errorCode: "CONFLICT" })
          assert.include(answer.body.message, "OpenTelemetry")
        }
        const abandoned = yield* call("POST", `/runs/${runId}/abandon`, { body: { reason: "gone" } })
        assert.strictEqual(abandoned.status, 409)
        const ready = yield* call("GET", "/readyz")
        assert.strictEqual(ready.body.checks.streamConsumer, "ok")
      })
    )
  }
)
