import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { CLAIM_MARGIN_MS, layerWebhookDispatcher } from "../../../src/features/webhooks/WebhookDispatcher.ts"
import { WebhookSettings } from "../../../src/features/webhooks/WebhookSettings.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { Outbox } from "../../../src/platform/outbox/Outbox.ts"
import { idle } from "../../support/ScrapedValues.ts"
import { MemoryDeliveries } from "./MemoryDeliveries.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND

const options = {
  timeoutMs: 10 * SECOND,
  retryBaseMs: 10 * SECOND,
  retryMaxMs: MINUTE,
  retryWindowMs: 10 * MINUTE,
  concurrency: 4,
  totalConcurrency: 4,
  pollMs: SECOND,
  allowPrivateTargets: true
}

/** The worker of these tests is woken by the clock alone. */
const idleOutbox = Layer.mock(Outbox)({ wake: () => undefined, woken: Effect.never })

/** A worker over an outbox in memory; it has had its first look. */
const workingWith = Effect.fnUntraced(function* (metrics: Layer.Layer<never>) {
  const deliveries = new MemoryDeliveries()
  yield* Layer.build(
    layerWebhookDispatcher.pipe(
      Layer.provide([deliveries.layer, metrics, idleOutbox, Layer.succeed(WebhookSettings, options)])
    )
  )
  yield* TestClock.adjust(0)
  return deliveries
})
const working = workingWith(Metrics.layer)

const times = ({ sent }: MemoryDeliveries) => sent.map(({ at }) => at)

describe("the worker that delivers webhooks", () => {
  it.effect("finds deliveries without a notification at its next poll, and signs with the time of the attempt", () =>
    Effect.gen(function* () {
      const deliveries = yield* working
      yield* deliveries.put("one")
      yield* TestClock.adjust(options.pollMs - 1)
      assert.lengthOf(deliveries.sent, 0)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(deliveries.sent, [{ id: "one", at: SECOND, timestamp: "1" }])
      assert.strictEqual(deliveries.rows[0]?.status, "delivered")
    })
  )

  it.effect("tries again after pauses that double up to the longest, until the window is over", () =>
    Effect.gen(function* () {
      const deliveries = yield* working
      deliveries.answer = () => ({ _tag: "Unanswered", reason: "timed out" })
      yield* deliveries.put("one")
      yield* TestClock.adjust(2 * options.retryWindowMs)
      const pauses = times(deliveries).flatMap((at, position, all) =>
        position === 0 ? [] : [at - (all[position - 1] ?? 0)]
      )
      for (const [position, usual] of [10, 20, 40, 60, 60, 60].entries()) {
        // A fifth to either side, and no later: the worker knows when the next one is due.
        assert.isAtLeast(pauses[position] ?? 0, usual * 0.8 * SECOND)
        assert.isAtMost(pauses[position] ?? 0, usual * 1.2 * SECOND)
      }
      assert.strictEqual(deliveries.rows[0]?.status, "failed")
      const [first = 0] = times(deliveries)
      assert.isAtLeast(times(deliveries).at(-1) ?? 0, first + options.retryWindowMs - options.pollMs)
      assert.isAtMost(times(deliveries).at(-1) ?? 0, first + options.retryWindowMs + options.pollMs)
    })
  )

  it.effect("counts each failed attempt when it fails, and the delivery once it is settled", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(Metrics.layer)
      const deliveries = yield* workingWith(Layer.succeedContext(context))
      const counts = Effect.map(Context.get(context, Metrics).scrape(idle), (text) =>
        text.match(/^(?:webhook_delivery_attempts|proto_webhook_deliveries)_total\{.*/gm)
      )
      deliveries.answer = (before) =>
        before < 3
          ? { _tag: "Unanswered", reason: "timed out" }
          : { _tag: "Answered", status: 204, retryAfter: undefined }
      // A database that refuses the outcome does not count an attempt twice.
      deliveries.refusals = 2
      yield* deliveries.put("one")
      yield* TestClock.adjust(20 * SECOND)
      assert.lengthOf(deliveries.sent, 2)
      assert.deepStrictEqual(yield* counts, [
        'proto_webhook_deliveries_total{status="delivered"} 0',
        'proto_webhook_deliveries_total{status="failed"} 0',
        'webhook_delivery_attempts_total{status="delivered"} 0',
        'webhook_delivery_attempts_total{status="failed"} 2'
      ])
      yield* TestClock.adjust(5 * MINUTE)
      assert.deepStrictEqual(yield* counts, [
        'proto_webhook_deliveries_total{status="delivered"} 1',
        'proto_webhook_deliveries_total{status="failed"} 0',
        'webhook_delivery_attempts_total{status="delivered"} 1',
        'webhook_delivery_attempts_total{status="failed"} 3'
      ])
    })
  )

  it.effect("waits for the Retry-After of the receiver", () =>
    Effect.gen(function* () {
      const deliveries = yield* working
      const busy = { _tag: "Answered", status: 503, retryAfter: "300" } as const
      deliveries.answer = (before) => (before === 0 ? busy : { _tag: "Answered", status: 204, retryAfter: undefined })
      yield* deliveries.put("one")
      yield* TestClock.adjust(options.pollMs + 300 * SECOND - 1)
      assert.lengthOf(deliveries.sent, 1)
      yield* TestClock.adjust(1)
      assert.lengthOf(deliveries.sent, 2)
      assert.strictEqual(deliveries.rows[0]?.status, "delivered")
    })
  )

  it.effect("writes an outcome again while its claim lasts, and delivers no second time for it", () =>
    Effect.gen(function* () {
      const deliveries = yield* working
      deliveries.refusals = 5
      yield* deliveries.put("one")
      yield* TestClock.adjust(options.timeoutMs + CLAIM_MARGIN_MS)
      assert.lengthOf(deliveries.sent, 1)
      assert.strictEqual(deliveries.rows[0]?.status, "delivered")
    })
  )

  it.effect("leaves a delivery to any process when its outcome could not be written for so long", () =>
    Effect.gen(function* () {
      const deliveries = yield* working
      deliveries.refusals = Number.POSITIVE_INFINITY
      yield* deliveries.put("one")
      yield* TestClock.adjust(options.timeoutMs + CLAIM_MARGIN_MS)
      assert.lengthOf(deliveries.sent, 1)
      deliveries.refusals = 0
      yield* TestClock.adjust(2 * options.pollMs)
      assert.lengthOf(deliveries.sent, 2)
      assert.deepInclude(deliveries.rows[0], { status: "delivered", attempts: 2 })
    })
  )
})
