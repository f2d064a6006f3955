import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { DeliveryQueue } from "../../../src/features/webhooks/DeliveryQueue.ts"
import { layerWebhookDispatcher } from "../../../src/features/webhooks/WebhookDispatcher.ts"
import { WebhookRepository } from "../../../src/features/webhooks/WebhookRepository.ts"
import { WebhookSettings } from "../../../src/features/webhooks/WebhookSettings.ts"
import { WebhookTransport } from "../../../src/features/webhooks/WebhookTransport.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { Outbox } from "../../../src/platform/outbox/Outbox.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { change, startRun, storedDeliveries } from "../../support/Webhooks.ts"

const options = {
  timeoutMs: 5_000,
  retryBaseMs: 5,
  retryMaxMs: 20,
  retryWindowMs: 60_000,
  concurrency: 4,
  totalConcurrency: 64,
  pollMs: 10,
  allowPrivateTargets: true
}

/** The worker of one process; several share the database of the test. */
const worker = (over: Partial<typeof options> = {}) =>
  Layer.fresh(
    layerWebhookDispatcher.pipe(
      Layer.provide([WebhookTransport.layer, DeliveryQueue.layer, Outbox.layer, Metrics.layer]),
      Layer.provide(Layer.succeed(WebhookSettings, { ...options, ...over }))
    )
  )

const slots = { alerts: { all: 100, extra: 100, slowed: 100 }, others: { all: 100, extra: 100, slowed: 100 } }

let number = 0
/** A subscription for the time of a test. */
const subscribe = Effect.fnUntraced(function* (url: string) {
  const repository = yield* WebhookRepository
  number += 1
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`
  yield* Effect.acquireRelease(
    repository.insert(id, { url, events: [], secret: "s" }, "2026-07-01T10:00:00.000Z"),
    () => Effect.orDie(repository.remove(id))
  )
  return id
})

const pending = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM webhook_deliveries WHERE status = 'pending'`
  return row?.count ?? 0
})

const awaitNonePending = until(pending, (count) => count === 0)

const idOf = (request: { readonly headers: Readonly<Record<string, unknown>> }) => String(request.headers["webhook-id"])

layer(
  Layer.mergeAll(WebhookRepository.layer, DeliveryQueue.layer, layerTestLog).pipe(
    Layer.provideMerge(layerTestDatabase)
  ),
  {
    excludeTestServices: true
  }
)("the workers of several processes", (it) => {
  it.effect("deliver each event once and those of a run in order, whichever process does it", () =>
    Effect.gen(function* () {
      const receivers = yield* Effect.forEach([1, 2, 3], () => webhookReceiver())
      for (const { url } of receivers) yield* subscribe(url)
      yield* Effect.gen(function* () {
        const runs = yield* Effect.forEach(Array.from({ length: 10 }), () => startRun, { concurrency: 5 })
        yield* Effect.forEach(runs, (runId) => change(runId, "completed"), { concurrency: 5 })
        yield* awaitNonePending
      }).pipe(Effect.provide([worker(), worker(), worker()]))

      const sql = yield* PgClient.PgClient
      const rows = yield* sql<{ readonly id: string; readonly run: string }>`
        SELECT id::text AS id, webhook_id || ' ' || run_id AS run FROM webhook_deliveries ORDER BY webhook_id, ordinal`
      const received = yield* Effect.forEach(receivers, ({ requests }) => Queue.takeAll(requests))
      assert.lengthOf(rows, 60)
      assert.lengthOf(received.flat(), 60)
      const position = new Map(received.flat().map((request, at) => [idOf(request), at]))
      for (const ofRun of Map.groupBy(rows, ({ run }) => run).values()) {
        const positions = ofRun.map(({ id }) => position.get(id) ?? Number.NaN)
        assert.deepStrictEqual(
          positions,
          positions.toSorted((left, right) => left - right)
        )
      }
      assert.strictEqual(position.size, 60)
      for (const { open } of receivers) assert.isAtMost(open.most, options.concurrency)
    })
  )

  it.effect("start with the pending deliveries, and with those that a dead process had claimed", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver()
      const id = yield* subscribe(url)
      yield* startRun
      const queue = yield* DeliveryQueue
      const claimed = (yield* queue.claim({ free: slots, perSubscription: 4, leaseMs: 100 })).deliveries.filter(
        ({ webhookId }) => webhookId === id
      )
      assert.lengthOf(claimed, 1)
      yield* Effect.provide(awaitNonePending, worker())
      const [first] = yield* Queue.takeAll(requests)
      assert.strictEqual(first && idOf(first), claimed[0]?.id)
    })
  )

  it.effect("release their current deliveries when they stop", () =>
    Effect.gen(function* () {
      const stuck = yield* webhookReceiver((before) => (before === 0 ? { hang: true } : { status: 204 }))
      yield* subscribe(stuck.url)
      yield* startRun
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(worker(), scope)
      const first = yield* Queue.take(stuck.requests)
      yield* Scope.close(scope, Exit.void)
      // No claim stands in the way, so the heir does not wait for one to run out.
      yield* Effect.provide(awaitNonePending, worker())
      assert.strictEqual(idOf(yield* Queue.take(stuck.requests)), idOf(first))
    })
  )

  it.effect("all keep the Retry-After of a busy receiver, also after a restart", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const { requests, url } = yield* webhookReceiver((before) => {
        times.push(Date.now())
        return before === 0 ? { status: 429, headers: { "retry-after": "1" } } : { status: 204 }
      })
      const id = yield* subscribe(url)
      const runs = yield* Effect.replicateEffect(startRun, 3)
      for (const runId of runs) yield* change(runId, "completed")
      const one = { concurrency: 1 }
      yield* until(storedDeliveries(id), (all) => all.some(({ responseStatus }) => responseStatus === 429)).pipe(
        Effect.provide([worker(one), worker(one), worker(one)])
      )
      yield* Effect.provide(awaitNonePending, [worker(one), worker(one), worker(one)])
      const [refused = 0, next = 0] = times
      // The receiver counts from its answer, the database from the moment it reads that answer.
      assert.isAtLeast(next - refused, 1_000)
      const received = (yield* Queue.takeAll(requests)).map(({ body }) => JSON.parse(body))
      for (const runId of runs) {
        const events = received.filter((payload) => payload.runId === runId).map(({ event }) => event)
        assert.deepStrictEqual([...new Set(events)], ["run.started", "run.completed"])
      }
    })
  )

  it.effect("keep to their number of attempts at a time, and still serve everyone", () =>
    Effect.gen(function* () {
      const { open, requests, url } = yield* webhookReceiver()
      for (let index = 0; index < 12; index++) yield* subscribe(url)
      yield* startRun
      yield* Effect.provide(awaitNonePending, worker({ totalConcurrency: 2, pollMs: 60_000 }))
      assert.strictEqual(yield* Queue.size(requests), 12)
      assert.isAtMost(open.most, 2)
    })
  )

  it.effect("deliver the events of all runs but the one that is refused, several at a time", () =>
    Effect.gen(function* () {
      const refusals = new Set<string>()
      const { open, requests, url } = yield* webhookReceiver((_, { body }) =>
        refusals.has(JSON.parse(body).runId) ? { status: 400, headers: { "retry-after": "50" } } : { status: 204 }
      )
      const id = yield* subscribe(url)
      const runs = yield* Effect.replicateEffect(startRun, 12)
      refusals.add(runs[0] ?? "")
      for (const runId of runs) yield* change(runId, "completed")
      const waiting = until(pending, (count) => count === 2)
      yield* Effect.provide(waiting, worker())
      const received = yield* Queue.takeAll(requests)
      const ofRun = Map.groupBy(received, ({ body }) => JSON.parse(body).runId)
      for (const [position, runId] of runs.entries()) {
        const events = ofRun.get(runId)?.map(({ body }) => JSON.parse(body).event)
        assert.deepStrictEqual(events, position === 0 ? ["run.started"] : ["run.started", "run.completed"])
      }
      assert.isAtMost(open.most, options.concurrency)
      const data = yield* storedDeliveries(id, "pending")
      assert.deepStrictEqual(
        data.map(({ event, runId }) => ({ event, runId })),
        ["run.completed", "run.started"].map((event) => ({ event, runId: runs[0] }))
      )
    })
  )

  it.effect("deliver nothing to an address that has become private", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver()
      const literal = yield* subscribe(url)
      const named = yield* subscribe(url.replace("127.0.0.1", "localhost"))
      yield* startRun
      yield* Effect.provide(awaitNonePending, worker({ allowPrivateTargets: false }))
      assert.strictEqual(yield* Queue.size(requests), 0)
      for (const [id, message] of [
        [literal, "127.0.0.1 is a private address"],
        [named, "localhost is a private address"]
      ] as const) {
        const data = yield* storedDeliveries(id)
        assert.deepInclude(data[0], { status: "failed", attempts: 1, errorMessage: message })
      }
    })
  )

  it.effect("give a delivery up at the end of its time", () =>
    Effect.gen(function* () {
      const { url } = yield* webhookReceiver(() => ({ status: 500 }))
      const id = yield* subscribe(url)
      yield* startRun
      yield* Effect.provide(awaitNonePending, worker({ retryWindowMs: 700 }))
      const data = yield* storedDeliveries(id)
      assert.deepInclude(data[0], { status: "failed", responseStatus: 500, errorMessage: "webhook returned 500" })
      assert.isAtLeast(data[0]?.attempts ?? 0, 3)
    })
  )
})
