import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { DeliveryQueue } from "../../../src/features/webhooks/DeliveryQueue.ts"
import { layerWebhookDispatcher } from "../../../src/features/webhooks/WebhookDispatcher.ts"
import { WebhookRepository } from "../../../src/features/webhooks/WebhookRepository.ts"
import { defaultWebhookOptions, WebhookSettings } from "../../../src/features/webhooks/WebhookSettings.ts"
import { WebhookTransport } from "../../../src/features/webhooks/WebhookTransport.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { Outbox } from "../../../src/platform/outbox/Outbox.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"

const TIMEOUT_MS = 2_500
/** The other receivers must not notice those that hang. Milliseconds. */
const SOON_MS = 1_000

/** The worker of one process; both share the database of the test. */
const worker = Layer.fresh(
  layerWebhookDispatcher.pipe(
    Layer.provide([WebhookTransport.layer, DeliveryQueue.layer, Outbox.layer, Metrics.layer]),
    Layer.provide(
      Layer.succeed(WebhookSettings, {
        ...defaultWebhookOptions,
        ...{ timeoutMs: TIMEOUT_MS, retryBaseMs: 50, retryMaxMs: 200, pollMs: 100, allowPrivateTargets: true }
      })
    )
  )
)

/** A subscription for the time of a test. */
const subscribe = Effect.fnUntraced(function* (url: string) {
  const repository = yield* WebhookRepository
  const id = randomUUID()
  yield* Effect.acquireRelease(
    repository.insert(id, { url, events: [], secret: "s" }, "2026-07-01T10:00:00.000Z"),
    () => Effect.orDie(repository.remove(id))
  )
  return id
})

/** Puts deliveries of so many runs into the outbox. */
const put = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, event: string, runs = 1) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, next_attempt_at, created_at)
    SELECT id, gen_random_uuid(), ${event}, '{}', now(), now()
    FROM unnest(${ids}::text[]::uuid[]) AS id, generate_series(1, ${runs}::int)`
})

/** Milliseconds until a delivery arrives. */
const timeOf = Effect.fnUntraced(function* (id: string, event: string, requests: Queue.Dequeue<unknown>) {
  const began = performance.now()
  yield* put([id], event)
  yield* Queue.take(requests)
  return performance.now() - began
})

const slowed = (ids: ReadonlyArray<string>) =>
  Effect.flatMap(WebhookRepository, (repository) =>
    Effect.map(repository.list(ids), ({ rows }) => rows.filter(({ slowedSince }) => slowedSince !== undefined).length)
  )

/** The most attempts of one subscription now, by their claims: a receiver sees the end of an attempt late. */
const mostAttempts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly most: number }>`
    SELECT coalesce(max(count), 0)::int AS most
    FROM (SELECT count(*) FROM webhook_deliveries
          WHERE status = 'pending' AND claimed_until IS NOT NULL GROUP BY webhook_id) AS claimed`
  return row?.most ?? 0
})

layer(
  Layer.mergeAll(DeliveryQueue.layer, WebhookRepository.layer, layerTestLog).pipe(
    Layer.provideMerge(layerTestDatabase)
  ),
  { excludeTestServices: true }
)("receivers that hang", (it) => {
  it.effect("delay no other receiver and no alert, and get one attempt at a time until they answer", () =>
    Effect.gen(function* () {
      let isHanging = true
      const hanging = yield* webhookReceiver(() => (isHanging ? { hang: true } : { status: 204 }))
      const [healthy, alerted] = [yield* webhookReceiver(), yield* webhookReceiver()]
      const slow = yield* Effect.forEach(Array.from({ length: 16 }), () => subscribe(hanging.url))
      const [run, alert] = [yield* subscribe(healthy.url), yield* subscribe(alerted.url)]
      yield* put(slow, "run.completed", 12)
      yield* Layer.build(worker)
      yield* Layer.build(worker)
      yield* until(
        Effect.sync(() => hanging.open.now),
        (now) => now >= 16
      )
      assert.isBelow(yield* timeOf(run, "run.completed", healthy.requests), SOON_MS)
      assert.isBelow(yield* timeOf(alert, "alert.fired", alerted.requests), SOON_MS)

      // Their attempts have timed out.
      yield* until(slowed(slow), (count) => count === 16)
      yield* until(mostAttempts, (most) => most <= 1)
      for (let round = 0; round < 5; round++) {
        assert.isBelow(yield* timeOf(run, "run.completed", healthy.requests), SOON_MS)
        assert.isBelow(yield* timeOf(alert, "alert.fired", alerted.requests), SOON_MS)
        yield* put(slow, "alert.fired", 2)
        for (let look = 0; look < 10; look++) {
          assert.isAtMost(yield* mostAttempts, 1)
          yield* Effect.sleep(TIMEOUT_MS / 40)
        }
      }
      assert.strictEqual(yield* slowed([run, alert]), 0)

      isHanging = false
      yield* until(slowed(slow), (count) => count === 0)
      const sql = yield* PgClient.PgClient
      yield* until(
        sql`SELECT FROM webhook_deliveries WHERE status = 'pending' LIMIT 1`,
        (pending) => pending.length === 0
      )
    })
  )

  it.effect("leave their slots to alerts, however many they are", () =>
    Effect.gen(function* () {
      const hanging = yield* webhookReceiver(() => ({ hang: true }))
      const alerted = yield* webhookReceiver()
      const slow = yield* Effect.forEach(Array.from({ length: 80 }), () => subscribe(hanging.url))
      const alert = yield* subscribe(alerted.url)
      yield* put(slow, "run.completed", 2)
      yield* Layer.build(worker)
      yield* until(
        Effect.sync(() => hanging.open.now),
        (now) => now >= 64
      )
      assert.isBelow(yield* timeOf(alert, "alert.fired", alerted.requests), SOON_MS)
      assert.strictEqual(hanging.open.most, 64)
    })
  )
})
