import { createHmac } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { type ReceiverAnswer, webhookReceiver } from "../../support/WebhookReceiver.ts"
import { allEnded, awaitDeliveries, change, SECRET, startRun, subscribe } from "../../support/Webhooks.ts"

const settings = {
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
  WEBHOOK_RETRY_BASE_MS: "5",
  WEBHOOK_RETRY_MAX_MS: "20",
  WEBHOOK_POLL_MS: "10"
}

/** A receiver that answers does so before the default time-out, however busy the machine is. */
const service = (more: Readonly<Record<string, string>> = {}) =>
  layerTestService({ settings: { ...settings, ...more }, observer: { recoveryEnabled: false } })

const stats = (id: string) =>
  Effect.map(
    call("GET", "/webhooks"),
    ({ body }) => body.find((webhook: { id: string }) => webhook.id === id).deliveryStats
  )

/** Answers in turn, the last answer for ever. */
const inTurn =
  (...answers: ReadonlyArray<ReceiverAnswer>) =>
  (before: number): ReceiverAnswer =>
    answers[Math.min(before, answers.length - 1)] ?? { status: 204 }

layer(service(), { excludeTestServices: true })("the delivery of webhooks", (it) => {
  it.effect("delivers the whole life of a run, in order, signed over the exact bytes", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver()
      const webhook = yield* subscribe(url)
      const runId = yield* startRun
      yield* change(runId, "suspended")
      yield* change(runId, "running", true)
      yield* change(runId, "completed")

      const names = ["run.started", "run.suspended", "run.resumed", "run.completed"]
      const statuses = ["running", "suspended", "running", "completed"]
      for (const [index, name] of names.entries()) {
        const { body, headers, method, path } = yield* Queue.take(requests)
        assert.strictEqual(`${method} ${path}`, "POST /hook")
        const payload = JSON.parse(body)
        assert.hasAllKeys(payload, ["event", "runId", "status", "timestamp"])
        assert.deepInclude(payload, { event: name, runId, status: statuses[index] })
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(headers["content-length"], String(Buffer.byteLength(body)))
        assert.isUndefined(headers["traceparent"])
        const plain = createHmac("sha256", SECRET).update(body).digest("hex")
        for (const prefix of ["x-macp", "x-proto"]) {
          assert.strictEqual(headers[`${prefix}-event`], name)
          assert.strictEqual(headers[`${prefix}-signature`], plain)
        }
        const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`
        const standard = createHmac("sha256", SECRET).update(signed).digest("base64")
        assert.strictEqual(headers["webhook-signature"], `v1,${standard}`)
      }
      const deliveries = yield* awaitDeliveries(webhook.id, allEnded)
      assert.lengthOf(deliveries, 4)
      for (const delivery of deliveries) {
        assert.deepInclude(delivery, {
          webhookId: webhook.id,
          runId,
          status: "delivered",
          attempts: 1,
          responseStatus: 204
        })
        assert.doesNotHaveAnyKeys(delivery, ["errorMessage", "nextAttemptAt"])
      }
      const counted = yield* stats(webhook.id)
      assert.deepInclude(counted, { total: 4, succeeded: 4, failed: 0 })
      assert.strictEqual(counted.lastDeliveredAt, deliveries[0].deliveredAt)
      const metrics = yield* call("GET", "/metrics")
      assert.match(metrics.text, /proto_webhook_deliveries_total\{status="delivered"\} [4-9]/)
      assert.match(metrics.text, /webhook_delivery_attempts_total\{status="delivered"\} [4-9]/)
    })
  )

  it.effect("delivers the changes that callers and observers make through HTTP and the runtime", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver()
      const webhook = yield* subscribe(url, ["run.started", "run.completed"])
      const { body } = yield* call("POST", "/runs", { body: descriptor() })
      yield* RuntimeFake.use((fake) =>
        fake.openSession({ sessionId: body.sessionId, participants: ["agent://lead"], initiator: "agent://lead" })
      )
      yield* awaitStatus(body.runId, "running")
      assert.deepInclude(JSON.parse((yield* Queue.take(requests)).body), { event: "run.started", status: "running" })
      yield* RuntimeFake.use((fake) => fake.transition(body.sessionId, "RESOLVED"))
      assert.deepInclude(JSON.parse((yield* Queue.take(requests)).body), { event: "run.completed", runId: body.runId })
      yield* awaitDeliveries(webhook.id, allEnded)
    })
  )

  it.effect("tries again after failures, with the same id, and delivers nothing else in between", () =>
    Effect.gen(function* () {
      const { open, requests, url } = yield* webhookReceiver(
        inTurn({ status: 500 }, { status: 302, headers: { location: "/elsewhere" } }, { hangUp: true }, { status: 200 })
      )
      const webhook = yield* subscribe(url)
      const runId = yield* startRun
      yield* change(runId, "completed")
      const deliveries = yield* awaitDeliveries(webhook.id, allEnded)
      const [second, first] = deliveries
      assert.deepInclude(first, { event: "run.started", status: "delivered", attempts: 4, responseStatus: 200 })
      assert.deepInclude(second, { event: "run.completed", status: "delivered", attempts: 1 })
      const received = yield* Queue.takeN(requests, 5)
      assert.deepStrictEqual(
        received.map(({ headers, path }) => `${path} ${headers["webhook-id"]}`),
        [first.id, first.id, first.id, first.id, second.id].map((id) => `/hook ${id}`)
      )
      assert.strictEqual(open.most, 1)
      assert.deepInclude(yield* stats(webhook.id), { total: 2, succeeded: 2, failed: 0 })
    })
  )

  it.effect("shows why a pending delivery has not arrived, and when it is tried again", () =>
    Effect.gen(function* () {
      const { url } = yield* webhookReceiver(() => ({ status: 503, headers: { "retry-after": "3600" } }))
      const webhook = yield* subscribe(url)
      yield* startRun
      const [delivery] = yield* awaitDeliveries(webhook.id, ([first]) => first?.["errorMessage"] !== undefined)
      assert.deepInclude(delivery, {
        status: "pending",
        attempts: 1,
        responseStatus: 503,
        errorMessage: "webhook returned 503"
      })
      const wait = Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.lastAttemptAt)
      assert.isAtLeast(wait, 3_600_000)
      assert.isBelow(wait, 3_605_000)
      assert.deepInclude(yield* stats(webhook.id), { total: 1, succeeded: 0, failed: 0 })
    })
  )

  it.effect("delivers a waiting delivery at once on request", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver(
        inTurn({ status: 503, headers: { "retry-after": "3600" } }, { status: 204 })
      )
      const webhook = yield* subscribe(url)
      yield* startRun
      const [waiting] = yield* awaitDeliveries(webhook.id, ([first]) => first?.["responseStatus"] === 503)
      const answer = yield* call("POST", `/webhooks/${webhook.id}/deliveries/${waiting.id}/redeliver`)
      assert.strictEqual(answer.status, 201, answer.text)
      const [delivered] = yield* awaitDeliveries(webhook.id, allEnded)
      assert.deepInclude(delivered, { id: waiting.id, status: "delivered", attempts: 2 })
      assert.strictEqual(yield* Queue.size(requests), 2)
    })
  )

  it.effect("holds all deliveries of a subscription whose receiver is busy, for at most the window", () =>
    Effect.gen(function* () {
      for (const [status, retryAfter, seconds] of [
        [429, "600", 600],
        [503, new Date(Date.now() + 600_000).toUTCString(), 600],
        [429, "99999999999", 86_400]
      ] as const) {
        const { requests, url } = yield* webhookReceiver(
          inTurn({ status, headers: { "retry-after": retryAfter } }, { status: 204 })
        )
        const other = yield* webhookReceiver()
        const webhook = yield* subscribe(url)
        yield* startRun
        yield* awaitDeliveries(webhook.id, ([first]) => first?.["responseStatus"] === status)
        const free = yield* subscribe(other.url)
        yield* startRun
        yield* startRun
        yield* awaitDeliveries(free.id, (all) => all.length === 2 && allEnded(all))
        const held = yield* awaitDeliveries(webhook.id, ({ length }) => length === 3)
        for (const delivery of held) {
          assert.strictEqual(delivery.status, "pending")
          const wait = (Date.parse(delivery.nextAttemptAt) - Date.now()) / 1_000
          assert.isAbove(wait, seconds - 60)
          assert.isAtMost(wait, seconds)
        }
        assert.strictEqual(yield* Queue.size(requests), 1)

        // A caller that wants a delivery now ends the hold.
        const [, , first] = held
        yield* call("POST", `/webhooks/${webhook.id}/deliveries/${first.id}/redeliver`)
        yield* awaitDeliveries(webhook.id, allEnded)
        assert.strictEqual(yield* Queue.size(requests), 4)
        for (const { id } of [webhook, free]) yield* call("DELETE", `/webhooks/${id}`)
      }
    })
  )

  it.effect("ends a hold with a test, another address, and an activation", () =>
    Effect.gen(function* () {
      for (const end of [
        (id: string) => call("POST", `/webhooks/${id}/test`),
        (id: string, url: string) => call("PATCH", `/webhooks/${id}`, { body: { url } }),
        (id: string) => call("PATCH", `/webhooks/${id}`, { body: { active: true } })
      ]) {
        const { url } = yield* webhookReceiver(
          inTurn({ status: 429, headers: { "retry-after": "600" } }, { status: 204 })
        )
        const webhook = yield* subscribe(url)
        yield* startRun
        yield* awaitDeliveries(webhook.id, ([first]) => first?.["responseStatus"] === 429)
        yield* startRun
        yield* end(webhook.id, url)
        // The refused one keeps its own pause.
        yield* awaitDeliveries(webhook.id, (all) => all.slice(0, -1).every(({ status }) => status === "delivered"))
        yield* call("DELETE", `/webhooks/${webhook.id}`)
      }
    })
  )

  it.effect("redelivers a failed or delivered one, with the same id, and audits it", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver(inTurn({ status: 500 }, { status: 204 }))
      const webhook = yield* subscribe(url)
      // A delivery that has waited for longer than the window fails at its next refusal.
      const sql = yield* PgClient.PgClient
      yield* sql`
        INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, next_attempt_at, created_at, queued_at)
        VALUES (${webhook.id}::uuid, gen_random_uuid(), 'run.started', '{}', now(), now(), now() - interval '2 days')`
      const [failed] = yield* awaitDeliveries(webhook.id, allEnded)
      assert.deepInclude(failed, { status: "failed", attempts: 1, errorMessage: "webhook returned 500" })
      const metrics = yield* call("GET", "/metrics")
      assert.match(metrics.text, /proto_webhook_deliveries_total\{status="failed"\} [1-9]/)
      const path = `/webhooks/${webhook.id}/deliveries/${failed.id}/redeliver`
      for (const attempts of [2, 3]) {
        const answer = yield* call("POST", path)
        assert.strictEqual(answer.status, 201, answer.text)
        assert.deepInclude(answer.body, { id: failed.id, status: "pending" })
        const [again] = yield* awaitDeliveries(webhook.id, allEnded)
        assert.deepInclude(again, { id: failed.id, status: "delivered", attempts, responseStatus: 204 })
        assert.notProperty(again, "errorMessage")
        assert.deepInclude(yield* stats(webhook.id), { total: 1, succeeded: 1, failed: 0 })
      }
      const ids = (yield* Queue.takeN(requests, 3)).map(({ headers }) => headers["webhook-id"])
      assert.deepStrictEqual(ids, [failed.id, failed.id, failed.id])
      const { body } = yield* call("GET", `/audit?action=webhook.redeliver&resourceId=${webhook.id}`)
      assert.strictEqual(body.total, 2)
      assert.deepStrictEqual(body.data[0].details, { outcome: "succeeded", deliveryId: failed.id })
    })
  )

  // docs/reference/webhooks.md#webhook-test
  it.effect("sends a test to every subscription, signed like the other deliveries, and audits it", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver(inTurn({ status: 204 }))
      const webhook = yield* subscribe(url)
      yield* call("PATCH", `/webhooks/${webhook.id}`, { body: { events: ["run.failed"] } })
      const answer = yield* call("POST", `/webhooks/${webhook.id}/test`)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepInclude(answer.body, { webhookId: webhook.id, event: "webhook.test", status: "pending" })
      const [delivered] = yield* awaitDeliveries(webhook.id, allEnded)
      assert.deepInclude(delivered, { id: answer.body.id, status: "delivered", attempts: 1, responseStatus: 204 })
      const { body, headers } = yield* Queue.take(requests)
      assert.deepInclude(JSON.parse(body), { event: "webhook.test", runId: answer.body.payload.runId })
      // The body has a made-up run, the delivery has none.
      assert.notProperty(delivered, "runId")
      assert.strictEqual(headers["x-macp-event"], "webhook.test")
      assert.strictEqual(headers["webhook-id"], answer.body.id)
      const entries = (yield* call("GET", `/audit?action=webhook.test&resourceId=${webhook.id}`)).body.data
      assert.deepStrictEqual(entries[0].details, { outcome: "succeeded", deliveryId: answer.body.id })
      yield* call("PATCH", `/webhooks/${webhook.id}`, { body: { active: false } })
      assert.strictEqual((yield* call("POST", `/webhooks/${webhook.id}/test`)).status, 409)
    })
  )

  it.effect("deactivates a subscription at a 410, and keeps its pending deliveries until it is active again", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver(
        inTurn({ status: 503, headers: { "retry-after": "3600" } }, { status: 410 }, { status: 204 })
      )
      const webhook = yield* subscribe(url)
      const runId = yield* startRun
      const [first] = yield* awaitDeliveries(webhook.id, ([only]) => only?.["responseStatus"] === 503)
      yield* change(runId, "completed")
      const path = `/webhooks/${webhook.id}/deliveries/${first.id}/redeliver`
      yield* call("POST", path)
      const [second, gone] = yield* awaitDeliveries(webhook.id, (all) => all[1]?.["status"] === "failed")
      assert.deepInclude(gone, { id: first.id, responseStatus: 410, errorMessage: "webhook returned 410" })
      assert.deepInclude(second, { event: "run.completed", status: "pending", attempts: 0 })
      const listed = (yield* call("GET", "/webhooks")).body.find(({ id }: { id: string }) => id === webhook.id)
      assert.strictEqual(listed.active, false)
      assert.deepInclude(listed.deliveryStats, { total: 2, succeeded: 0, failed: 1 })

      const refused = yield* call("POST", path)
      assert.strictEqual(refused.status, 409)
      assert.deepInclude(refused.body, { errorCode: "CONFLICT", message: `webhook ${webhook.id} is not active` })
      yield* change(yield* createRun(), "cancelled")
      assert.strictEqual((yield* call("GET", `/webhooks/${webhook.id}/deliveries`)).body.total, 2)

      yield* call("PATCH", `/webhooks/${webhook.id}`, { body: { active: true } })
      yield* awaitDeliveries(webhook.id, allEnded)
      const received = yield* Queue.takeAll(requests)
      assert.deepStrictEqual(
        received.map(({ headers }) => headers["webhook-id"]),
        [first.id, first.id, second.id]
      )
    })
  )

  it.effect("keeps deliveries of a paused subscription and delivers them when it is active again", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver(
        inTurn({ status: 503, headers: { "retry-after": "3600" } }, { status: 204 })
      )
      const webhook = yield* subscribe(url)
      yield* startRun
      const [waiting] = yield* awaitDeliveries(webhook.id, ([first]) => first?.["responseStatus"] === 503)
      yield* call("PATCH", `/webhooks/${webhook.id}`, { body: { active: false } })
      assert.strictEqual((yield* call("GET", `/webhooks/${webhook.id}/deliveries?status=pending`)).body.total, 1)
      yield* call("PATCH", `/webhooks/${webhook.id}`, { body: { active: true } })
      yield* call("POST", `/webhooks/${webhook.id}/deliveries/${waiting.id}/redeliver`)
      yield* awaitDeliveries(webhook.id, allEnded)
      assert.strictEqual(yield* Queue.size(requests), 2)
    })
  )

  it.effect("uses the secret and the address that the subscription has at the attempt", () =>
    Effect.gen(function* () {
      const old = yield* webhookReceiver(() => ({ status: 500, headers: { "retry-after": "3600" } }))
      const current = yield* webhookReceiver()
      const webhook = yield* subscribe(old.url)
      yield* startRun
      const [waiting] = yield* awaitDeliveries(webhook.id, ([first]) => first?.["responseStatus"] === 500)
      yield* call("PATCH", `/webhooks/${webhook.id}`, { body: { url: current.url, secret: "rotated" } })
      yield* call("POST", `/webhooks/${webhook.id}/deliveries/${waiting.id}/redeliver`)
      const { body, headers } = yield* Queue.take(current.requests)
      assert.strictEqual(headers["x-macp-signature"], createHmac("sha256", "rotated").update(body).digest("hex"))
    })
  )

  it.effect("never goes to a metadata address, even where private targets are allowed", () =>
    Effect.gen(function* () {
      const { body, status } = yield* call("POST", "/webhooks", {
        body: { url: "http://169.254.169.254/latest/meta-data", secret: SECRET }
      })
      assert.strictEqual(status, 400)
      assert.include(body.message, "a link-local or metadata address")
    })
  )
})

layer(service({ WEBHOOK_TIMEOUT_MS: "250" }), { excludeTestServices: true })("a short time-out", (it) => {
  it.effect("lets no slow or dead receiver delay another", () =>
    Effect.gen(function* () {
      const slow = yield* webhookReceiver(() => ({ hang: true }))
      const fine = yield* webhookReceiver()
      const hanging = yield* subscribe(slow.url)
      const dead = yield* subscribe("http://127.0.0.1:1/closed")
      const webhook = yield* subscribe(fine.url)
      const runId = yield* startRun
      yield* Queue.take(slow.requests)
      yield* change(runId, "completed")
      yield* awaitDeliveries(webhook.id, (deliveries) => deliveries.length === 2 && allEnded(deliveries))
      const [, first] = yield* awaitDeliveries(hanging.id, (all) => all[1]?.["errorMessage"] !== undefined)
      assert.deepInclude(first, { status: "pending", errorMessage: "timed out after 250 ms" })
      const [, refused] = yield* awaitDeliveries(dead.id, (all) => all[1]?.["errorMessage"] !== undefined)
      assert.include(refused.errorMessage, "ECONNREFUSED")
      for (const { id } of [hanging, dead]) yield* call("DELETE", `/webhooks/${id}`)
    })
  )
})
