import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { change, SECRET, startRun, subscribe } from "../../support/Webhooks.ts"

// Nothing is delivered here: the receivers are addresses that no host has.
const URL = "https://192.0.2.1/hook"
const create = (over: Readonly<Record<string, unknown>> = {}) =>
  call("POST", "/webhooks", { body: { url: URL, secret: SECRET, ...over } })

const audits = (id: string) =>
  Effect.map(call("GET", `/audit?resource=webhook&resourceId=${id}`), ({ body }) =>
    body.data.map((entry: { action: string }) => entry.action)
  )

layer(layerTestService({ observer: { recoveryEnabled: false }, settings: { WEBHOOK_TIMEOUT_MS: "100" } }), {
  excludeTestServices: true
})("webhooks over HTTP", (it) => {
  it.effect("subscribes with 201, and shows the secret in full in that answer only", () =>
    Effect.gen(function* () {
      const { body, status } = yield* create()
      assert.strictEqual(status, 201)
      assert.deepInclude(body, { url: URL, events: [], secret: SECRET, active: true })
      assert.strictEqual(body.createdAt, body.updatedAt)

      const listed = yield* call("GET", "/webhooks")
      assert.strictEqual(listed.status, 200)
      const own = listed.body.find((webhook: { id: string }) => webhook.id === body.id)
      assert.deepStrictEqual(own, {
        ...body,
        secret: "****cret",
        deliveryStats: { total: 0, succeeded: 0, failed: 0 }
      })
      const patched = yield* call("PATCH", `/webhooks/${body.id}`, { body: { secret: "another-secret-9876" } })
      assert.strictEqual(patched.body.secret, "****9876")
      assert.notInclude(listed.text + patched.text, SECRET)
    })
  )

  it.effect("changes any subset of a subscription, and nothing else", () =>
    Effect.gen(function* () {
      const { body } = yield* create({ events: ["run.failed"] })
      for (const [patch, expected] of [
        [{ active: false }, { active: false, events: ["run.failed"], url: URL }],
        [{ events: [] }, { active: false, events: [], url: URL }],
        [
          { url: `${URL}/2`, active: true },
          { active: true, events: [], url: `${URL}/2` }
        ],
        [{}, { active: true, events: [], url: `${URL}/2` }]
      ] as const) {
        const answer = yield* call("PATCH", `/webhooks/${body.id}`, { body: patch })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepInclude(answer.body, expected)
        assert.strictEqual(answer.body.createdAt, body.createdAt)
      }
    })
  )

  it.effect("removes a subscription with 204, also when repeated", () =>
    Effect.gen(function* () {
      const { body } = yield* create()
      for (const _ of [1, 2]) {
        const removed = yield* call("DELETE", `/webhooks/${body.id}`)
        assert.strictEqual(removed.status, 204)
        assert.strictEqual(removed.text, "")
      }
      assert.strictEqual((yield* call("GET", `/webhooks/${body.id}/deliveries`)).status, 404)
      assert.deepStrictEqual(yield* audits(body.id), ["webhook.delete", "webhook.create"])
    })
  )

  it.effect("audits every change, and no secret", () =>
    Effect.gen(function* () {
      const { body } = yield* create()
      yield* call("PATCH", `/webhooks/${body.id}`, { body: { secret: "a-new-secret", active: false } })
      const { body: log, text } = yield* call("GET", `/audit?resourceId=${body.id}`)
      assert.deepInclude(log.data[0].details, { active: false, secret: "changed" })
      assert.deepInclude(log.data[1].details, { url: "https://192.0.2.1", events: [] })
      assert.notInclude(text, SECRET)
      assert.notInclude(text, "a-new-secret")
    })
  )

  for (const [what, body, message] of [
    ["no body at all", {}, ["url must be a URL address", "secret must be a string", "secret should not be empty"]],
    ["a relative URL", { url: "/hook", secret: "s" }, ["url must be a URL address"]],
    ["another scheme", { url: "ftp://example.org/", secret: "s" }, ["url must be a URL address"]],
    ["spaces", { url: "http://exa mple.org/", secret: "s" }, ["url must be a URL address"]],
    ["credentials", { url: "https://me:pw@example.org/", secret: "s" }, ["url must not contain credentials"]],
    [
      "events that are no list",
      { url: URL, secret: "s", events: "run.failed" },
      ["each value in events must be a string", "events must be an array"]
    ],
    [
      "too many events",
      { url: URL, secret: "s", events: Array.from({ length: 101 }, String) },
      ["events must contain no more than 100 elements"]
    ],
    [
      "a key of Standard Webhooks that is too short",
      { url: URL, secret: "whsec_dG9vIHNob3J0" },
      ["secret must hold a base64 key of 24 to 64 bytes after whsec_"]
    ],
    ["an unknown key", { url: URL, secret: "s", active: true }, ["property active should not exist"]]
  ] as const) {
    it.effect(`refuses ${what}`, () =>
      Effect.gen(function* () {
        const answer = yield* call("POST", "/webhooks", { body })
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(answer.body.errorCode, "VALIDATION_ERROR")
        assert.deepStrictEqual(answer.body.message, message)
      })
    )
  }

  for (const [url, why] of [
    ["http://127.0.0.1:9/hook", "127.0.0.1 is a private address"],
    ["http://2130706433/hook", "127.0.0.1 is a private address"],
    ["http://[::1]/hook", "[::1] is a private address"],
    ["http://[::ffff:10.0.0.1]/", "[::ffff:a00:1] is a private address"],
    ["http://localhost:9/hook", "localhost is a private address"],
    ["http://169.254.169.254/latest", "169.254.169.254 is a link-local or metadata address"]
  ] as const) {
    it.effect(`refuses the private target ${url}, when subscribing and when changing`, () =>
      Effect.gen(function* () {
        const { body } = yield* create()
        for (const answer of [
          yield* create({ url }),
          yield* call("PATCH", `/webhooks/${body.id}`, { body: { url } })
        ]) {
          assert.strictEqual(answer.status, 400, answer.text)
          assert.strictEqual(answer.body.errorCode, "VALIDATION_ERROR")
          assert.strictEqual(answer.body.message, `url is not allowed: ${why}`)
        }
        yield* call("DELETE", `/webhooks/${body.id}`)
      })
    )
  }

  it.effect("knows unknown ids from malformed ones", () =>
    Effect.gen(function* () {
      const unknown = randomUUID()
      const { body } = yield* create()
      for (const [method, path, status, message] of [
        ["PATCH", `/webhooks/${unknown}`, 404, `webhook ${unknown} not found`],
        ["GET", `/webhooks/${unknown}/deliveries`, 404, `webhook ${unknown} not found`],
        ["POST", `/webhooks/${unknown}/deliveries/${unknown}/redeliver`, 404, `webhook ${unknown} not found`],
        ["POST", `/webhooks/${body.id}/deliveries/${unknown}/redeliver`, 404, `delivery ${unknown} not found`],
        ["POST", `/webhooks/${unknown}/test`, 404, `webhook ${unknown} not found`],
        ["PATCH", "/webhooks/nonsense", 400, "Validation failed (uuid is expected)"],
        ["DELETE", "/webhooks/nonsense", 400, "Validation failed (uuid is expected)"],
        ["GET", "/webhooks/nonsense/deliveries", 400, "Validation failed (uuid is expected)"]
      ] as const) {
        const answer = yield* call(method, path, { body: method === "GET" ? undefined : {} })
        assert.strictEqual(answer.status, status, path)
        assert.strictEqual(answer.body.message, message)
        assert.strictEqual(answer.body.errorCode, status === 404 ? "NOT_FOUND" : "VALIDATION_ERROR")
      }
    })
  )

  it.effect("writes one delivery for each active subscription that wants the event, in the order of the events", () =>
    Effect.gen(function* () {
      const all = yield* subscribe(URL)
      const ends = yield* subscribe(URL, ["run.completed", "run.failed"])
      const never = yield* subscribe(URL, ["signal.emitted"])
      const inactive = yield* subscribe(URL)
      yield* call("PATCH", `/webhooks/${inactive.id}`, { body: { active: false } })
      const runId = yield* startRun
      yield* change(runId, "suspended")
      yield* change(runId, "running", true)
      yield* change(runId, "failed")

      const eventsOf = (id: string) =>
        Effect.map(call("GET", `/webhooks/${id}/deliveries`), ({ body }) =>
          body.data.map((delivery: { event: string }) => delivery.event)
        )
      const wanted = ["run.failed", "run.resumed", "run.suspended", "run.started"]
      assert.deepStrictEqual(yield* eventsOf(all.id), wanted)
      assert.deepStrictEqual(yield* eventsOf(ends.id), ["run.failed"])
      assert.deepStrictEqual(yield* eventsOf(never.id), [])
      assert.deepStrictEqual(yield* eventsOf(inactive.id), [])

      const { body: page } = yield* call("GET", `/webhooks/${all.id}/deliveries?limit=1`)
      assert.deepInclude(page, { total: 4, limit: 1, offset: 0 })
      assert.deepInclude(page.data[0], { webhookId: all.id, runId, status: "pending" })
      assert.strictEqual(page.data[0].payload.timestamp, page.data[0].createdAt)
      assert.deepStrictEqual(page.data[0].payload, {
        event: "run.failed",
        runId,
        status: "failed",
        timestamp: page.data[0].createdAt,
        data: { error: "runtime session expired" }
      })
      const { body: none } = yield* call("GET", `/webhooks/${all.id}/deliveries?status=delivered`)
      assert.strictEqual(none.total, 0)
    })
  )
})
