import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { webhookEventOf } from "../../../src/features/webhooks/WebhookOutbox.ts"
import { type DeliveryRow, maskSecret, toDelivery } from "../../../src/features/webhooks/WebhookRows.ts"

describe("what webhooks say", () => {
  for (const [status, drafts, event] of [
    ["queued", [], undefined],
    ["starting", ["run.started"], undefined],
    ["binding_session", [], undefined],
    ["running", ["session.stream.opened"], "run.started"],
    ["running", ["session.state.changed", "run.resumed"], "run.resumed"],
    ["suspended", ["run.suspended"], "run.suspended"],
    ["completed", [], "run.completed"],
    ["failed", [], "run.failed"],
    ["cancelled", [], "run.cancelled"]
  ] as const) {
    it(`is ${event ?? "nothing"} when a run becomes ${status} with ${drafts.join(", ") || "no events"}`, () => {
      assert.strictEqual(
        webhookEventOf(
          status,
          drafts.map((type) => ({ type }))
        ),
        event
      )
    })
  }

  for (const [secret, shown] of [
    ["topsecret", "****cret"],
    ["12345", "****2345"],
    ["1234", "****"],
    ["", "****"]
  ] as const) {
    it(`shows the secret ${JSON.stringify(secret)} as ${shown}`, () => {
      assert.strictEqual(maskSecret(secret), shown)
    })
  }

  const row: DeliveryRow = {
    id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10",
    webhook_id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11",
    run_id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a12",
    firing_id: null,
    event: "alert.fired",
    payload: "{}",
    status: "pending",
    attempts: 0,
    next_attempt_at: null,
    last_attempt_at: null,
    response_status: null,
    error_message: null,
    created_at: new Date(0),
    delivered_at: null
  }
  for (const [text, payload] of [
    ['{"type":"alert.fired"}', { type: "alert.fired" }],
    ['[{"labels":{"alertname":"budget"}}]', { alerts: [{ labels: { alertname: "budget" } }] }],
    ['{"routing_key":"R0UT1NGKEY","dedup_key":"1"}', { routing_key: "****GKEY", dedup_key: "1" }]
  ] as const) {
    it(`shows the body ${text} without its key`, () => {
      assert.deepStrictEqual(toDelivery({ ...row, payload: text }).payload, payload)
    })
  }

  it("names the run and the firing that it has", () => {
    const of = (run_id: string | null, firing_id: string | null) => toDelivery({ ...row, run_id, firing_id })
    assert.include(of("r", "f"), { runId: RunId.make("r"), firingId: "f" })
    assert.notProperty(of(null, "f"), "runId")
    assert.notProperty(of("r", null), "firingId")
  })
})
