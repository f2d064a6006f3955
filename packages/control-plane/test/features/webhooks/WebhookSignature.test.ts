import { assert, describe, it } from "@effect/vitest"
import { webhookHeaders } from "../../../src/features/webhooks/WebhookSignature.ts"

describe("the headers of a delivery", () => {
  const signed = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    event: "run.completed",
    body: '{"test": 2432232314}',
    timestamp: 1_614_265_330
  }

  it("carry the published signature of Standard Webhooks for its published example", () => {
    const headers = webhookHeaders({ ...signed, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" })
    assert.strictEqual(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    assert.strictEqual(headers["webhook-id"], signed.id)
    assert.strictEqual(headers["webhook-timestamp"], "1614265330")
  })

  it("carry the plain HMAC-SHA256 of the body in lower-case hex, under both names", () => {
    const headers = webhookHeaders({ ...signed, body: "what do ya want for nothing?", secret: "Jefe" })
    const expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert.strictEqual(headers["x-macp-signature"], expected)
    assert.strictEqual(headers["x-proto-signature"], expected)
    assert.strictEqual(headers["x-macp-event"], "run.completed")
    assert.strictEqual(headers["x-proto-event"], "run.completed")
  })
})
