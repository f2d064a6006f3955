import { assert, layer } from "@effect/vitest"
import { verifyExport } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { publishedKeys } from "../../support/SealTests.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { subscribe } from "../../support/Webhooks.ts"
import { exportOf, post, span, traceIdOf } from "./support/Exports.ts"

const settings = {
  OTLP_SETTLE_MS: "200",
  OTLP_IDLE_MS: "300",
  OTLP_PARENT_WAIT_MS: "600",
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true"
}
const runOf = (trace: number) => runOfKey("anonymous", traceIdOf(trace))
const FAILED = 2

const ended = (trace: number, status: string) =>
  Effect.map(
    until(call("GET", `/runs/${runOf(trace)}`), ({ body }) => body.status === status),
    ({ body }) => body
  )

const root = (trace: number, status: number) =>
  span({
    trace,
    span: 1,
    startMs: 0,
    endMs: 5_000,
    status,
    name: "refund.run",
    attributes: { "runplane.scenario": "refund", "runplane.tags": "vip", "error.type": "Timeout" }
  })

layer(layerTestService({ settings }), { excludeTestServices: true })("a root that comes late", (it) => {
  it.effect("corrects the run that silence ended, everywhere", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver()
      yield* subscribe(url)
      yield* post(exportOf([span({ trace: 1, span: 2, parent: 1, startMs: 1_000, endMs: 1_100 })]))
      const before = yield* ended(1, "completed")
      assert.notProperty(before, "errorCode")
      const [first] = (yield* assertLogIsExact(runOf(1))).decoded.filter(({ type }) => type === "run.completed")
      assert.strictEqual(first?.recorded.data["endedBecause"], "idle")

      yield* post(exportOf([root(1, FAILED)]))
      const run = yield* ended(1, "failed")
      assert.deepInclude(run, { errorCode: "Timeout", tags: ["vip"] })
      assert.deepInclude(run.metadata, { scenarioRef: "refund", durationMs: 5_000 })
      assert.strictEqual(Date.parse(run.endedAt) - Date.parse(run.startedAt), 5_000)

      const { decoded } = yield* assertLogIsExact(runOf(1))
      const types = decoded.map(({ type }) => type)
      assert.strictEqual(types.filter((type) => type === "run.completed" || type === "run.failed").length, 1)
      assert.strictEqual(types.at(-1), "run.corrected")
      const state = yield* call("GET", `/runs/${runOf(1)}/state`)
      assert.deepInclude(state.body.run, { status: "failed", endedAt: run.endedAt, startedAt: run.startedAt })
      assert.deepInclude((yield* call("GET", `/runs/${runOf(1)}/metrics`)).body, { durationMs: 5_000 })
      const found = yield* call("GET", `/runs?q=${encodeURIComponent("status:failed scenario:refund duration:4000..")}`)
      assert.deepStrictEqual(
        found.body.data.map(({ id }: { id: string }) => id),
        [runOf(1)]
      )

      const seal = yield* call("GET", `/runs/${runOf(1)}/seal`)
      assert.strictEqual(seal.body.events, decoded.length)
      const exported = yield* call("GET", `/runs/${runOf(1)}/export?includeRaw=true`)
      const verified = verifyExport(sha256, yield* publishedKeys, Buffer.from(exported.text))
      assert.isTrue(verified.ok, verified.ok ? "" : verified.why)

      const events: Array<string> = []
      while (events.at(-1) !== "run.corrected") events.push(JSON.parse((yield* Queue.take(requests)).body).event)
      assert.deepStrictEqual(events, ["run.started", "run.completed", "run.corrected"])
    })
  )

  it.effect("corrects a failure to a success, and takes its error away", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 2, span: 2, parent: 1, status: FAILED })]))
      const before = yield* ended(2, "failed")
      assert.property(before.metadata, "error")
      yield* post(exportOf([root(2, 1), span({ trace: 2, span: 3, parent: 1, startMs: 3_000 })]))
      const run = yield* ended(2, "completed")
      for (const name of ["errorCode", "errorMessage"]) assert.notProperty(run, name)
      assert.notProperty(run.metadata, "error")
      const { decoded } = yield* assertLogIsExact(runOf(2))
      assert.strictEqual(decoded.filter(({ type }) => type === "run.corrected").length, 1)
    })
  )
})
