import { describeSqlError } from "@runplane/database"
import { jitteredBackoff } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { type ClaimedDelivery, DeliveryQueue, type FailedAnswer, SLOWED_AFTER } from "./DeliveryQueue.ts"
import { makeDeliverySlots } from "./DeliverySlots.ts"
import { holdMs, retryAfterMs, retryDelayMs } from "./RetryPolicy.ts"
import { WebhookSettings } from "./WebhookSettings.ts"
import { webhookHeaders } from "./WebhookSignature.ts"
import { type WebhookAnswer, WebhookTransport } from "./WebhookTransport.ts"

/** Beyond the time-out of an attempt, a claim lasts this long for the writing of its outcome. Milliseconds. */
export const CLAIM_MARGIN_MS = 20_000
/**
 * As long as its claim lasts, an outcome that cannot be written is tried again; it is fenced, so it counts once.
 * Milliseconds.
 */
const RECORD_RETRY_MS = CLAIM_MARGIN_MS - 5_000
const records = jitteredBackoff(50, 1_000).pipe(Schedule.upTo({ duration: RECORD_RETRY_MS }))
/** The status with which a receiver ends its subscription. */
const GONE = 410

/**
 * Delivers what the outbox holds, in every process: woken by the commits of its own, by the clock when the next retry
 * is due, and now and then for what other processes left behind (docs/reference/webhooks.md#webhook-delivery). A
 * process that dies in the middle of an attempt leaves a claim that runs out, so a receiver gets each event at least
 * once;
 * `webhook-id` identifies a repetition.
 */
export const layerWebhookDispatcher = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue
    const settings = yield* WebhookSettings
    const deliver = yield* makeDeliver
    const fibers = yield* FiberSet.make<void, never>()
    const { wake, woken } = yield* Outbox
    const slots = makeDeliverySlots(settings.totalConcurrency, settings.concurrency)

    const start = (delivery: ClaimedDelivery) => {
      slots.take(delivery.slot)
      // The next delivery of the run or of the subscription may be due.
      const ended = Effect.sync(() => {
        slots.release(delivery.slot)
        wake()
      })
      return FiberSet.run(fibers, Effect.ensuring(deliver(delivery), ended))
    }

    const limits = { perSubscription: settings.concurrency, leaseMs: settings.timeoutMs + CLAIM_MARGIN_MS }
    /** Starts the due deliveries and returns the time until the next ones. Milliseconds. */
    const startDue = Effect.gen(function* () {
      const free = slots.free()
      if (free.alerts.all === 0 && free.others.all === 0) return settings.pollMs
      // A poll every second would fill every trace.
      const claims = yield* Effect.withTracerEnabled(queue.claim({ ...limits, free }), false)
      for (const delivery of claims.deliveries) yield* start(delivery)
      if (claims.more) return 0
      return Math.min(settings.pollMs, Math.ceil(claims.nextDueMs ?? settings.pollMs))
    })
    const round = startDue.pipe(
      Effect.uninterruptible,
      Effect.map((pauseMs) => ({ pauseMs }))
    )
    yield* Effect.forkScoped(forever("webhooks", round, { wake: woken }))
  })
)

const succeeded = (answer: WebhookAnswer) => answer._tag === "Answered" && answer.status >= 200 && answer.status <= 299

/** One attempt and its outcome. An interruption, at shutdown, leaves the delivery to the next worker. */
const makeDeliver = Effect.gen(function* () {
  const metrics = yield* Metrics
  const queue = yield* DeliveryQueue
  const settings = yield* WebhookSettings
  const transport = yield* WebhookTransport

  const attempt = Effect.fnUntraced(function* (delivery: ClaimedDelivery) {
    const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    return yield* transport.send({
      url: delivery.url,
      headers: webhookHeaders({ ...delivery, timestamp }),
      body: delivery.body
    })
  })

  const giveUp = Effect.fnUntraced(function* (delivery: ClaimedDelivery, answer: FailedAnswer, deactivate: boolean) {
    yield* queue.giveUp(delivery, answer, { deactivate })
    metrics.webhookDelivery("failed")
    const consequence = deactivate ? "the subscription is inactive now" : "it can be redelivered"
    yield* Effect.logWarning(`gave up a webhook delivery: ${answer.errorMessage}; ${consequence}`)
  })

  const hold = Effect.fnUntraced(function* (
    webhookId: string,
    status: number | undefined,
    retryAfterMs: number | undefined
  ) {
    const ms = holdMs({ status, retryAfterMs }, settings)
    if (ms === 0 || !(yield* queue.hold(webhookId, ms))) return
    yield* Effect.logWarning(`a webhook receiver answered ${status}; its subscription is held for ${ms / 1_000} s`)
  })

  /** Slows a subscription whose receiver does not answer in time, and no longer one whose receiver answers. */
  const noteAnswer = Effect.fnUntraced(function* ({ slot, webhookId }: ClaimedDelivery, answer: WebhookAnswer) {
    const isTimeout = answer._tag === "Unanswered" && answer.isTimeout === true
    if (answer._tag !== "Answered" && !isTimeout) return
    // The end of a delivery that has arrived notes its answer already.
    if (!succeeded(answer) && (yield* queue.answered(webhookId, isTimeout))) {
      yield* Effect.logWarning(
        `a webhook receiver timed out ${SLOWED_AFTER} times in a row; its subscription has one attempt at a time`
      )
    }
    if (!isTimeout && slot.kind === "slowed") {
      yield* Effect.logInfo("a webhook receiver answers again; its subscription has all its attempts")
    }
  })

  const retryLater = Effect.fnUntraced(function* (
    delivery: ClaimedDelivery,
    answer: FailedAnswer,
    header: string | undefined
  ) {
    const retryAfter = retryAfterMs(header, yield* Clock.currentTimeMillis)
    yield* hold(delivery.webhookId, answer.responseStatus, retryAfter)
    const delayMs = yield* retryDelayMs({ ...delivery, retryAfterMs: retryAfter }, settings)
    if (delayMs === undefined) return yield* giveUp(delivery, answer, false)
    yield* queue.retry(delivery, answer, delayMs)
  })

  const record = (delivery: ClaimedDelivery, answer: WebhookAnswer): Effect.Effect<void, SqlError> => {
    switch (answer._tag) {
      case "Answered": {
        const { retryAfter, status } = answer
        if (succeeded(answer)) {
          return Effect.andThen(
            queue.delivered(delivery, status),
            Effect.sync(() => metrics.webhookDelivery("delivered"))
          )
        }
        const failure = { responseStatus: status, errorMessage: `webhook returned ${status}` }
        return status === GONE ? giveUp(delivery, failure, true) : retryLater(delivery, failure, retryAfter)
      }
      case "Unanswered":
        return retryLater(delivery, { responseStatus: undefined, errorMessage: answer.reason }, undefined)
      case "Refused":
        return giveUp(delivery, { responseStatus: undefined, errorMessage: answer.reason }, false)
    }
  }

  const recordAll = (delivery: ClaimedDelivery, answer: WebhookAnswer) =>
    Effect.andThen(record(delivery, answer), noteAnswer(delivery, answer))

  const unrecorded = (error: SqlError) =>
    Effect.logWarning(
      `the outcome of a webhook delivery is not recorded, it will be repeated: ${describeSqlError(error)}`
    )

  return Effect.fn("WebhookDispatcher.deliver")((delivery: ClaimedDelivery) =>
    Effect.uninterruptibleMask((restore) =>
      restore(attempt(delivery)).pipe(
        Effect.onInterrupt(() => Effect.catch(queue.release(delivery), unrecorded)),
        // Once for each answer: the writing of its outcome is retried.
        Effect.tap((answer) => Effect.sync(() => metrics.webhookAttempt(succeeded(answer) ? "delivered" : "failed"))),
        // Only the pauses between the tries can be interrupted: a service that stops does not wait for its database.
        Effect.flatMap((answer) =>
          Effect.catch(restore(Effect.retry(Effect.uninterruptible(recordAll(delivery, answer)), records)), unrecorded)
        )
      )
    ).pipe(
      Effect.catchDefect((defect) => Effect.logError("a webhook delivery failed unexpectedly", defect)),
      Effect.annotateLogs({ webhookId: delivery.webhookId, deliveryId: delivery.id })
    )
  )
})
