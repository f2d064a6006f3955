import { create, toBinary } from "@bufbuild/protobuf"
import { assert, layer } from "@effect/vitest"
import { CommitmentPayloadSchema } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Receipts from "../../../src/features/receipts/Receipts.ts"
import { Observers } from "../../../src/observe/Observers.ts"
import { Redactor } from "../../../src/platform/deployment/Redactor.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { awaitEvent, awaitStatus } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"

const MODE = "macp.mode.decision.v1"
const COMMITMENT = toBinary(
  CommitmentPayloadSchema,
  create(CommitmentPayloadSchema, {
    ...{ commitmentId: "c1", action: "decision.selected", authorityScope: "release", reason: "majority" },
    outcomePositive: true
  })
)

/** The worker that reads receipts, as a process has it. */
const startWorker = Layer.build(
  Layer.fresh(Receipts.layer.pipe(Layer.provide([Redactor.layer, Layer.fresh(Metrics.layer)])))
)

/** A run whose session resolves; its runtime answers with this receipt, or with the genuine one. */
const resolvedRun = Effect.fnUntraced(function* (receipt?: string) {
  const fake = yield* RuntimeFake
  const runId = yield* createRun({ modeName: MODE, createdAt: new Date().toISOString() })
  yield* fake.openSession({ sessionId: runId, mode: MODE, participants: ["lead"], initiator: "lead" })
  yield* (yield* Observers).adopt(runId)
  yield* awaitStatus(runId, "running")
  yield* fake.accept(runId, { messageType: "Commitment", messageId: "m9", sender: "lead", payload: COMMITMENT })
  yield* awaitEvent(runId, "decision.finalized")
  if (receipt !== undefined) yield* fake.setReceipt(runId, receipt)
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitEvent(runId, "artifact.created", ({ kind }) => kind === "macp.receipt")
  return runId
})

const SETTINGS = { OTLP_SETTLE_MS: "300", WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" }

layer(layerTestService({ settings: SETTINGS }), { excludeTestServices: true })("an alert on receiptFaults", (it) => {
  it.effect("fires for a receipt that arrives after the end of its run and disagrees, and notifies a webhook", () =>
    Effect.gen(function* () {
      const hooks = yield* webhookReceiver()
      yield* (yield* RuntimeFake).issueReceipts()
      yield* startWorker
      const body = {
        ...{ id: "receipts", name: "Receipts", per: "run", window: "run", measure: "receiptFaults" },
        levels: [{ at: 1, severity: "critical", actions: [{ type: "webhook", format: "generic", url: hooks.url }] }]
      }
      assert.strictEqual((yield* call("POST", "/alerts/rules", { body })).status, 201)
      const genuine = yield* resolvedRun()
      const answer = yield* (yield* RuntimeFake).client.getDecisionReceipt(genuine)
      // The genuine receipt of another session.
      const refuted = yield* resolvedRun(answer)
      const { type, ...notified } = JSON.parse((yield* Queue.take(hooks.requests)).body)
      assert.strictEqual(type, "alert.fired")
      assert.include(JSON.stringify(notified), refuted)
      const read = Effect.map(call("GET", "/alerts?rule=receipts"), ({ body }) => body.data)
      const alerts = yield* until(read, (found) => found.length > 0)
      assert.lengthOf(alerts, 1)
      assert.include(alerts[0], { key: refuted, value: 1, level: 0 })
      assert.strictEqual((yield* call("GET", `/runs/${genuine}/alerts`)).body.total, 0)
    })
  )
})
