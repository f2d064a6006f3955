import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { EventLog } from "../../../src/log/EventLog.ts"
import { type ClaimedDelivery, DeliveryQueue } from "../../../src/react/webhooks/DeliveryQueue.ts"
import { WebhookRepository } from "../../../src/react/webhooks/WebhookRepository.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { change, startRun } from "../../support/Webhooks.ts"

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

const deliveriesOf = Effect.fnUntraced(function* (id: string) {
  const { data } = yield* (yield* WebhookRepository).deliveries(id, { limit: 200, offset: 0 })
  return data
})

/** Claims until nothing is due, of one subscription only. */
const claimOf = Effect.fnUntraced(function* (id: string, leaseMs = 60_000) {
  const claimed = yield* (yield* DeliveryQueue).claim(100, leaseMs)
  return claimed.filter(({ webhookId }) => webhookId === id)
})

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
  it.effect("hands the first delivery of each subscription to one of many claimers", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.forEach([1, 2, 3, 4, 5], () => subscribe())
      const runId = yield* startRun
      yield* change(runId, "completed")
      const queue = yield* DeliveryQueue
      const claims = yield* Effect.forEach(Array.from({ length: 20 }), () => queue.claim(3, 60_000), {
        concurrency: "unbounded"
      })
      const claimed = claims.flat()
      assert.lengthOf(claimed, 5)
      assert.sameMembers(
        claimed.map(({ webhookId }) => webhookId),
        ids
      )
      for (const { attempts, event, tries } of claimed) {
        assert.deepStrictEqual({ event, attempts, tries }, { event: "run.started", attempts: 1, tries: 1 })
      }
      assert.lengthOf(yield* queue.claim(100, 60_000), 0)
      for (const delivery of claimed) yield* queue.delivered(delivery, 200)
      const next = yield* queue.claim(100, 60_000)
      assert.deepStrictEqual(
        next.map(({ event }) => event),
        ids.map(() => "run.completed")
      )
      for (const id of ids) yield* (yield* WebhookRepository).remove(id)
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
      const [delivery] = yield* deliveriesOf(id)
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

  it.effect("does not count the attempts before a redelivery, and puts it behind what is pending", () =>
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

  it.effect("does not repeat an attempt that is under way when it is asked for again", () =>
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
      assert.lengthOf(yield* deliveriesOf(id), 0)
      yield* change(runId, "cancelled")
      const [delivery] = yield* deliveriesOf(id)
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
      assert.lengthOf(yield* deliveriesOf(id), 0)
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
