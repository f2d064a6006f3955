import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { type ClaimedDelivery, DeliveryQueue } from "../../../src/features/webhooks/DeliveryQueue.ts"
import { type WebhookAnswer, WebhookTransport } from "../../../src/features/webhooks/WebhookTransport.ts"

interface Row {
  readonly id: string
  readonly queuedAt: number
  status: "pending" | "delivered" | "failed"
  attempts: number
  nextAttemptAt: number
  claimedUntil: number
}

/** A request as the receiver got it, and the test clock's time. */
export interface Sent {
  readonly id: string
  readonly at: number
  readonly timestamp: string | undefined
}

/**
 * The outbox and the receivers of webhooks in memory, on the clock of the test; each delivery has its own subscription.
 */
export class MemoryDeliveries {
  readonly rows: Array<Row> = []
  readonly sent: Array<Sent> = []
  /** Outcomes that cannot be written. */
  refusals = 0
  answer: (before: number) => WebhookAnswer = () => ({ _tag: "Answered", status: 204, retryAfter: undefined })

  /** Puts a delivery into the outbox, without a notification. */
  readonly put = (id: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const row: Row = { id, queuedAt: now, status: "pending", attempts: 0, nextAttemptAt: now, claimedUntil: 0 }
      this.rows.push(row)
      return row
    })

  get layer() {
    return Layer.merge(
      Layer.succeed(DeliveryQueue, this.#queue),
      Layer.succeed(
        WebhookTransport,
        WebhookTransport.of({
          refusal: () => Effect.undefined,
          send: ({ headers }) =>
            Effect.map(Clock.currentTimeMillis, (at) => {
              this.sent.push({ id: headers["webhook-id"] ?? "", at, timestamp: headers["webhook-timestamp"] })
              return this.answer(this.sent.length - 1)
            })
        })
      )
    )
  }

  readonly #end = ({ attempts, id }: ClaimedDelivery, change: (row: Row, now: number) => void) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (this.refusals > 0) {
        this.refusals -= 1
        return new SqlError({ reason: new UnknownError({ cause: new Error("no database") }) })
      }
      const row = this.rows.find((each) => each.id === id && each.attempts === attempts && each.status === "pending")
      if (row !== undefined) {
        row.claimedUntil = 0
        change(row, now)
      }
      return Effect.void
    })

  readonly #queue = DeliveryQueue.of({
    claim: ({ free, leaseMs }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const due = this.rows.filter(
          ({ claimedUntil, nextAttemptAt, status }) =>
            status === "pending" && nextAttemptAt <= now && claimedUntil <= now
        )
        const next = this.rows.filter(({ nextAttemptAt, status }) => status === "pending" && nextAttemptAt > now)
        const nextDueMs = next.length === 0 ? undefined : Math.min(...next.map((row) => row.nextAttemptAt - now))
        const deliveries = due.slice(0, free.others.all).map((row): ClaimedDelivery => {
          row.attempts += 1
          row.claimedUntil = now + leaseMs
          const delivery = { url: "http://receiver.test/", secret: "s", event: "run.started", body: "{}" }
          const { attempts, id, queuedAt } = row
          const slot = { lane: "others", kind: "first" } as const
          return { ...delivery, id, webhookId: id, attempts, tries: attempts, ageMs: now - queuedAt, slot }
        })
        return { deliveries, nextDueMs, more: false }
      }),
    delivered: (delivery) =>
      this.#end(delivery, (row) => {
        row.status = "delivered"
      }),
    retry: (delivery, _, delayMs) =>
      this.#end(delivery, (row, now) => {
        row.nextAttemptAt = now + delayMs
      }),
    hold: () => Effect.succeed(true),
    answered: () => Effect.succeed(false),
    giveUp: (delivery) =>
      this.#end(delivery, (row) => {
        row.status = "failed"
      }),
    release: (delivery) => this.#end(delivery, () => {})
  })
}
