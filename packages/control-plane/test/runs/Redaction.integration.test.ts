import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { signal } from "../observe/Signals.ts"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"
import { awaitEvent, awaitStatus } from "../support/Observation.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"
import { subscribe } from "../support/Webhooks.ts"

const CARD = 4111111111111111
const settings = { PROTO_REDACT_PATTERNS: "411\\d{10,13}, sk-\\w+", WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" }
const SECRETS = /411\d{10}|sk-\w/

layer(layerTestService({ settings }), { excludeTestServices: true })("redaction", (it) => {
  it.effect("keeps matches out of all that the service stores and sends, and counts the usage beside them", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const { requests, url } = yield* webhookReceiver()
      yield* subscribe(url)
      const { body } = yield* call("POST", "/runs", { body: descriptor() })
      const runId = RunId.make(body.runId)
      yield* fake.openSession({ sessionId: body.sessionId, participants: ["agent://a"], initiator: "agent://a" })
      yield* awaitStatus(runId, "running")
      const usage = { model: "vendor1-4o", promptTokens: 10, completionTokens: 5 }
      yield* fake.signal(signal(body.sessionId, undefined, { card: CARD, prompt: "sk-1", ...usage }))
      yield* awaitEvent(runId, "llm.call.completed")
      yield* fake.accept(body.sessionId, {
        messageType: "Note",
        sender: "agent://a",
        payload: new TextEncoder().encode(String.raw`{"card":4111111111111111,"a":"\u0073k-2","to":{"sk-3":1}}`)
      })
      yield* awaitEvent(runId, "message.received", (data) => data["messageType"] === "Note")
      const inline = { log: JSON.stringify({ card: CARD }), cards: [CARD] }
      const artifact = { kind: "report", label: "of sk-4", uri: "s3://sk-5", inline }
      const added = yield* call("POST", `/runs/${runId}/artifacts`, { body: artifact })
      assert.deepInclude(added.body, {
        label: "of [REDACTED]",
        uri: "s3://[REDACTED]",
        inline: { log: '{"card":"[REDACTED]"}', cards: ["[REDACTED]"] }
      })
      yield* fake.transition(body.sessionId, "RESOLVED")
      yield* awaitStatus(runId, "completed")

      assert.deepInclude((yield* call("GET", `/runs/${runId}/metrics`)).body, { totalTokens: 15 })
      for (const path of ["", "/events", "/state", "/messages", "/artifacts", "/export", "/decision/why"]) {
        const { status, text } = yield* call("GET", `/runs/${runId}${path}`)
        assert.strictEqual(status, 200, path)
        assert.notMatch(text, SECRETS, path)
        for (const [, base64 = ""] of text.matchAll(/"(?:data|payloadBase64)":"([A-Za-z0-9+/=]+)"/g)) {
          assert.notMatch(Buffer.from(base64, "base64").toString(), SECRETS, path)
        }
      }
      assert.notMatch((yield* Queue.take(requests)).body, SECRETS)
    })
  )
})
