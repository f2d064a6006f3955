import { assert, describe, it } from "@effect/vitest"
import { MAX_WEBHOOK_EVENTS, MAX_WEBHOOK_SECRET_LENGTH, NewWebhook, WebhookChange } from "../../../src/index.ts"
import { bodySchema } from "../../../src/validation/RequestSchema.ts"
import { decode } from "../../support/Decode.ts"

const webhookBody = bodySchema(NewWebhook, { unknownKeys: "reject" })
const changeBody = bodySchema(WebhookChange, { unknownKeys: "reject" })
const check = (schema: typeof webhookBody | typeof changeBody, body: unknown) => {
  const { messages, value } = decode<unknown>(schema, body)
  return value ?? messages
}
const url = "https://example.org/hook"

describe("the body of POST /webhooks", () => {
  it("takes every absolute http and https URL as it is written, and all events unless said", () => {
    for (const given of [
      url,
      "http://EXAMPLE.org:8080/a?b=c#d",
      "http://[2606:2800::1]/",
      "https://münchen.example/ä"
    ]) {
      assert.deepStrictEqual(check(webhookBody, { url: given, secret: "s" }), { url: given, events: [], secret: "s" })
    }
  })

  for (const given of [
    "",
    "/hook",
    "example.org/hook",
    "ftp://example.org",
    "http:example.org",
    " http://a.org",
    7,
    null
  ]) {
    it(`refuses ${JSON.stringify(given)} as URL`, () => {
      assert.deepStrictEqual(check(webhookBody, { url: given, secret: "s" }), ["url must be a URL address"])
    })
  }

  it("takes the types of the log for events, and refuses names that nothing has", () => {
    const events = ["run.completed", "signal.emitted"]
    assert.deepStrictEqual(check(webhookBody, { url, events, secret: "s" }), { url, events, secret: "s" })
    const known =
      "run.started, run.completed, run.failed, run.cancelled, run.corrected, run.suspended, run.resumed, mark.added, item.opened, item.escalated, item.unreachable, item.reminded, item.undelivered, item.closed"
    for (const name of ["run.complete", "RUN.FAILED", "", "*", "run.failed\r\n"]) {
      assert.deepStrictEqual(check(webhookBody, { url, events: [name], secret: "s" }), [
        `each value in events must be one of the following values: ${known}`
      ])
    }
  })

  for (const [bytes, taken] of [
    [0, false],
    [23, false],
    [24, true],
    [32, true],
    [64, true],
    [65, false]
  ] as const) {
    it(`${taken ? "takes" : "refuses"} whsec_ with a key of ${bytes} bytes`, () => {
      const secret = `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`
      const refusal = ["secret must hold a base64 key of 24 to 64 bytes after whsec_"]
      assert.deepStrictEqual(check(webhookBody, { url, secret }), taken ? { url, events: [], secret } : refusal)
      assert.deepStrictEqual(check(changeBody, { secret }), taken ? { secret } : refusal)
    })
  }

  it("refuses whsec_ with a key that is not base64, and takes every other text", () => {
    const key = "k".repeat(32)
    for (const secret of [
      `whsec_${key.slice(1)}`,
      `whsec_-${key.slice(1)}`,
      `whsec_${key.slice(4)} ===`,
      "whsec_short"
    ])
      assert.isArray(check(webhookBody, { url, secret }))
    for (const secret of ["s", "whsec-short", "WHSEC_short"])
      assert.deepStrictEqual(check(webhookBody, { url, secret }), { url, events: [], secret })
  })

  it("bounds the length of URL, secret and events", () => {
    const secret = "s".repeat(MAX_WEBHOOK_SECRET_LENGTH + 1)
    const events = Array.from({ length: MAX_WEBHOOK_EVENTS + 1 }, () => "run.failed")
    assert.deepStrictEqual(check(webhookBody, { url: `${url}/${"p".repeat(2_048)}`, events, secret }), [
      "url must be a URL address",
      `events must contain no more than ${MAX_WEBHOOK_EVENTS} elements`,
      `secret must be shorter than or equal to ${MAX_WEBHOOK_SECRET_LENGTH} characters`
    ])
  })
})

describe("the body of PATCH /webhooks/:id", () => {
  it("takes any subset, and null as absent", () => {
    assert.deepStrictEqual(check(changeBody, {}), {})
    assert.deepStrictEqual(check(changeBody, { active: false, url: null }), { active: false })
  })

  it("refuses a wrong value", () => {
    assert.match(String(check(changeBody, { events: ["run.complete"] })), /^each value in events must be one of/)
    assert.deepStrictEqual(check(changeBody, { active: "yes", secret: "", id: "x" }), [
      "property id should not exist",
      "secret should not be empty",
      "active must be a boolean value"
    ])
  })
})
