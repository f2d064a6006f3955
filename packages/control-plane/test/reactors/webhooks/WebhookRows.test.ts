import { assert, describe, it } from "@effect/vitest"
import { webhookEventOf } from "../../../src/reactors/webhooks/WebhookOutbox.ts"
import { maskSecret } from "../../../src/reactors/webhooks/WebhookRows.ts"

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
})
