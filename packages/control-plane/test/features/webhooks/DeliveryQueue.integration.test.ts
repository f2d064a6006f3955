import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { READ_PER_CLAIM } from "../../../src/features/webhooks/DeliveryClaims.ts"
import { type ClaimedDelivery, type ClaimLimits, DeliveryQueue } from "../../../src/features/webhooks/DeliveryQueue.ts"
import { WebhookRepository } from "../../../src/features/webhooks/WebhookRepository.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { change, startRun, storedDeliveries } from "../../support/Webhooks.ts"

const subscribe = Effect.fnUntraced(function* (events: ReadonlyArray<string> = []) {
  const repository = yield* WebhookRepository
  const id = randomUUID()
  yield* repository.insert(
    id,
    { url: "http://192.0.2.1/", events: [...events], secret: "s" },
    "2026-07-01T10:00:00.000Z"
  )
  return id
})

const claim = Effect.fnUntraced(function* ({
  limit = 100,
  ...over
}: Partial<ClaimLimits> & { readonly limit?: number } = {}) {
  const slots = { all: limit, extra: limit, slowed: limit }
  const limits = { free: { alerts: slots, others: slots }, perSubscription: 4, leaseMs: 60_000, ...over }
  return yield* (yield* DeliveryQueue).claim(limits)
})

/** Claims what is due, and answers what is of one subscription. */
const claimOf = Effect.fnUntraced(function* (id: string, leaseMs = 60_000) {
  const { deliveries } = yield* claim({ leaseMs })
  return deliveries.filter(({ webhookId }) => webhookId === id)
})

/** Puts the deliveries of so many runs into the outbox, those of a run in their order; the number is in the body. */
const put = Effect.fnUntraced(function* (id: string, runs: number, events: ReadonlyArray<string>, from = 1) {
  const sql = yield* PgClient.PgClient
  for (const event of events) {
    yield* sql`
      INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, next_attempt_at, created_at)
      SELECT ${id}::uuid, md5(${id} || run)::uuid, ${event}, json_build_object('run', run), now(), now()
      FROM generate_series(${from}::int, ${from + runs - 1}::int) AS run ORDER BY run`
  }
})

const runOf = (body: string): unknown => JSON.parse(body).run

const only = (claimed: ReadonlyArray<ClaimedDelivery>) => {
  assert.lengthOf(claimed, 1)
  const [delivery] = claimed
  if (delivery === undefined) throw new Error("nothing claimed")
  return delivery
}

layer(
  Layer.mergeAll(DeliveryQueue.layer, WebhookRepository.layer, layerTestLog).pipe(
    Layer.provideMerge(layerTestDatabase)
  ),
  { excludeTestServices: true }
)("the queue of deliveries", (it) => {
  it.effect("gives the first delivery of each subscription to one of many claimers", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.forEach([1, 2, 3, 4, 5], () => subscribe())
      const runId = yield* startRun
      yield* change(runId, "completed")
      const queue = yield* DeliveryQueue
      const claims = yield* Effect.forEach(Array.from({ length: 20 }), () => claim({ limit: 3 }), {
        concurrency: "unbounded"
      })
      const claimed = claims.flatMap(({ deliveries }) => deliveries)
      assert.lengthOf(claimed, 5)
      assert.sameMembers(
        claimed.map(({ webhookId }) => webhookId),
        ids
      )
      for (const { attempts, event, tries } of claimed) {
        assert.deepStrictEqual({ event, attempts, tries }, { event: "run.started", attempts: 1, tries: 1 })
      }
      assert.lengthOf((yield* claim()).deliveries, 0)
      for (const delivery of claimed) yield* queue.delivered(delivery, 200)
      const { deliveries: next } = yield* claim()
      assert.deepStrictEqual(
        next.map(({ event }) => event),
        ids.map(() => "run.completed")
      )
      for (const id of ids) yield* (yield* WebhookRepository).remove(id)
    })
  )

  it.effect(
    "hands out deliveries of several runs at once, of each run the first, and no more than a subscription may have",
    () =>
      Effect.gen(function* () {
        const id = yield* subscribe()
        yield* put(id, 6, ["run.started", "run.completed"])
        const claims = yield* Effect.forEach(Array.from({ length: 8 }), () => claim({ perSubscription: 3 }), {
          concurrency: "unbounded"
        })
        const claimed = claims.flatMap(({ deliveries }) => deliveries)
        assert.deepStrictEqual(
          claimed.map(({ body, event }) => `${event} of ${runOf(body)}`),
          [1, 2, 3].map((run) => `run.started of ${run}`)
        )
        const [first] = claimed
        if (first === undefined) throw new Error("nothing claimed")
        yield* (yield* DeliveryQueue).delivered(first, 200)
        // The fourth run has waited longer than the second delivery of the first.
        const next = only((yield* claim({ perSubscription: 3 })).deliveries)
        assert.strictEqual(`${next.event} of ${runOf(next.body)}`, "run.started of 4")
        yield* (yield* WebhookRepository).remove(id)
      })
  )

  it.effect("delays only the run of a refused delivery, and continues with that run afterwards", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      yield* put(id, 3, ["run.started", "run.completed"])
      const queue = yield* DeliveryQueue
      const [refused] = (yield* claim({ perSubscription: 1 })).deliveries
      if (refused === undefined) throw new Error("nothing claimed")
      assert.strictEqual(runOf(refused.body), 1)
      yield* queue.retry(refused, { responseStatus: 400, errorMessage: "webhook returned 400" }, 3_600_000)
      const order: Array<string> = []
      for (let step = 0; step < 4; step++) {
        const delivery = only((yield* claim({ perSubscription: 1 })).deliveries)
        order.push(`${delivery.event} of ${runOf(delivery.body)}`)
        yield* queue.delivered(delivery, 200)
      }
      assert.sameMembers(order, ["run.started of 2", "run.completed of 2", "run.started of 3", "run.completed of 3"])
      const { deliveries, nextDueMs } = yield* claim()
      assert.lengthOf(deliveries, 0)
      assert.isAbove(nextDueMs ?? 0, 50_000)
      yield* (yield* WebhookRepository).requeue(id, refused.id)
      const again = only(yield* claimOf(id))
      assert.strictEqual(again.id, refused.id)
      assert.lengthOf(yield* claimOf(id), 0)
      yield* queue.giveUp(again, { responseStatus: 400, errorMessage: "webhook returned 400" }, { deactivate: false })
      const last = only(yield* claimOf(id))
      assert.strictEqual(`${last.event} of ${runOf(last.body)}`, "run.completed of 1")
      yield* (yield* WebhookRepository).remove(id)
    })
  )

  it.effect("serves a subscription with one delivery beside one that has a thousand waiting", () =>
    Effect.gen(function* () {
      const fat = yield* subscribe()
      yield* put(fat, 1_000, ["run.started"])
      const lean = yield* subscribe()
      yield* put(lean, 1, ["run.started"])
      // There is never room for both.
      const queue = yield* DeliveryQueue
      const served: Array<string> = []
      for (let step = 0; step < 3; step++) {
        const delivery = only((yield* claim({ limit: 1 })).deliveries)
        served.push(delivery.webhookId)
        yield* queue.delivered(delivery, 200)
      }
      assert.strictEqual(served.filter((id) => id === lean).length, 1)
      for (const id of [fat, lean]) yield* (yield* WebhookRepository).remove(id)
    })
  )

  it.effect("delays the deliveries behind refused ones, a bounded part a claim, and finds the later ones", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      yield* put(id, 100, ["run.started", "run.completed"])
      const sql = yield* PgClient.PgClient
      yield* sql`
        UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 hour'
        WHERE webhook_id = ${id}::uuid AND event = 'run.started'`
      yield* put(id, 1, ["run.failed"], 101)
      const found: Array<string> = []
      let claims = 0
      for (let more = true; more; claims++) {
        const claimed = yield* claim()
        more = claimed.more
        found.push(...claimed.deliveries.map(({ event }) => event))
      }
      assert.deepStrictEqual(found, ["run.failed"])
      // The last one finds nothing any more.
      assert.strictEqual(claims, Math.ceil(101 / READ_PER_CLAIM) + 1)
      assert.isFalse((yield* claim()).more)
      yield* (yield* WebhookRepository).remove(id)
    })
  )

  it.effect("gives a claim that ran out to another, whose outcome alone counts", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      yield* startRun
      const queue = yield* DeliveryQueue
      const dead = only(yield* claimOf(id, 0))
      const heir = only(yield* claimOf(id))
      assert.strictEqual(heir.id, dead.id)
      assert.strictEqual(heir.attempts, 2)
      yield* queue.giveUp(dead, { responseStatus: 410, errorMessage: "late" }, { deactivate: true })
      yield* queue.retry(dead, { responseStatus: 500, errorMessage: "late" }, 0)
      yield* queue.release(dead)
      assert.lengthOf(yield* claimOf(id), 0)
      yield* queue.delivered(heir, 200)
      yield* queue.delivered(heir, 200)
      const [delivery] = yield* storedDeliveries(id)
      assert.deepInclude(delivery, { status: "delivered", attempts: 2, responseStatus: 200 })
      const webhook = yield* (yield* WebhookRepository).find(id)
      assert.deepInclude(webhook, { active: true })
      assert.deepInclude(webhook?.deliveryStats, { total: 1, succeeded: 1, failed: 0 })
    })
  )

  it.effect("makes a released delivery due at once, and a failed one when its pause is over", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      yield* startRun
      const queue = yield* DeliveryQueue
      yield* queue.release(only(yield* claimOf(id)))
      const again = only(yield* claimOf(id))
      yield* queue.retry(again, { responseStatus: 503, errorMessage: "webhook returned 503" }, 3_600_000)
      assert.lengthOf(yield* claimOf(id), 0)
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 ms' WHERE webhook_id = ${id}::uuid`
      const third = only(yield* claimOf(id))
      assert.strictEqual(third.tries, 3)
      assert.isAtLeast(third.ageMs, 0)
    })
  )

  it.effect("does not count the attempts before a redelivery, and puts it behind the pending ones", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      const runId = yield* startRun
      const queue = yield* DeliveryQueue
      const failed = only(yield* claimOf(id))
      yield* queue.giveUp(failed, { responseStatus: 500, errorMessage: "webhook returned 500" }, { deactivate: false })
      yield* change(runId, "completed")
      const requeued = yield* (yield* WebhookRepository).requeue(id, failed.id)
      assert.strictEqual(requeued._tag, "Requeued")
      const first = only(yield* claimOf(id))
      assert.strictEqual(first.event, "run.completed")
      yield* queue.delivered(first, 200)
      const again = only(yield* claimOf(id))
      assert.deepInclude(again, { id: failed.id, attempts: 2, tries: 1 })
    })
  )

  it.effect("does not repeat an attempt that is under way when it is requested again", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      yield* startRun
      const delivery = only(yield* claimOf(id))
      yield* (yield* WebhookRepository).requeue(id, delivery.id)
      assert.lengthOf(yield* claimOf(id), 0)
    })
  )

  it.effect("holds nothing of an append that did not commit", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      const log = yield* EventLog
      const sql = yield* PgClient.PgClient
      const runId = yield* createRun()
      yield* change(runId, "starting")
      const failing = log.change({
        runId,
        to: "failed",
        events: () => [],
        also: () => Effect.asVoid(sql`SELECT 1 / 0`)
      })
      assert.strictEqual((yield* Effect.flip(failing))._tag, "AppendFailed")
      assert.lengthOf(yield* storedDeliveries(id), 0)
      yield* change(runId, "cancelled")
      const [delivery] = yield* storedDeliveries(id)
      assert.strictEqual(delivery?.event, "run.cancelled")
    })
  )

  it.effect("never fails the append of a run whose subscription is being removed", () =>
    Effect.gen(function* () {
      const id = yield* subscribe()
      const runId = yield* createRun()
      const sql = yield* PgClient.PgClient
      const repository = yield* WebhookRepository
      const removed = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const removal = yield* sql
        .withTransaction(
          repository
            .remove(id)
            .pipe(Effect.andThen(Deferred.succeed(removed, undefined)), Effect.andThen(Deferred.await(go)))
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(removed)
      const append = yield* Effect.forkChild(change(runId, "cancelled"))
      // The append has met the lock of the removal.
      const waiting = sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* until(waiting, ([row]) => row?.count !== 0)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(removal)
      yield* Fiber.join(append)
      assert.lengthOf(yield* storedDeliveries(id), 0)
    })
  )

  it.effect("survives subscriptions that are removed while their deliveries end", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const repository = yield* WebhookRepository
      for (let round = 0; round < 20; round++) {
        const id = yield* subscribe()
        yield* startRun
        const delivery = only(yield* claimOf(id))
        yield* Effect.all([queue.delivered(delivery, 200), repository.remove(id)], { concurrency: "unbounded" })
        assert.isUndefined(yield* repository.find(id))
      }
    })
  )
})
