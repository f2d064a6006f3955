import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"

/** A delivery that this process may attempt, and what the attempt needs. */
export interface ClaimedDelivery {
  readonly id: string
  readonly webhookId: string
  readonly url: string
  readonly secret: string
  readonly event: string
  /** The stored text: exactly what is signed and sent. */
  readonly body: string
  /** The number of this attempt among all. It fences: a claim that ran out has a smaller number than the row. */
  readonly attempts: number
  /** The number of this attempt since the delivery was queued. */
  readonly tries: number
  /** Time since the delivery was queued. Milliseconds. */
  readonly ageMs: number
}

export interface FailedAnswer {
  readonly responseStatus: number | undefined
  readonly errorMessage: string
}

/**
 * The outbox of webhook deliveries as the workers of all processes share it. Only the first pending delivery of a
 * subscription can be claimed: a subscription gets its deliveries one after the other, in order, and a receiver that is
 * down delays nobody but itself. Times are the database's, so that the clocks of the processes do not matter.
 */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Claims due deliveries, at most one of each subscription. A claim that is not ended runs out after `leaseMs`. */
    readonly claim: (limit: number, leaseMs: number) => Effect.Effect<ReadonlyArray<ClaimedDelivery>, SqlError>
    readonly delivered: (delivery: ClaimedDelivery, responseStatus: number) => Effect.Effect<void, SqlError>
    readonly retry: (delivery: ClaimedDelivery, answer: FailedAnswer, delayMs: number) => Effect.Effect<void, SqlError>
    /** Gives the delivery up, and the whole subscription when `deactivate` says so. */
    readonly giveUp: (
      delivery: ClaimedDelivery,
      answer: FailedAnswer,
      options: { readonly deactivate: boolean }
    ) => Effect.Effect<void, SqlError>
    /** Ends a claim without an outcome: the delivery is due at once. */
    readonly release: (delivery: ClaimedDelivery) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/DeliveryQueue") {
  static readonly layer = Layer.effect(
    DeliveryQueue,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      // Another claim can come between the look at the heads and the lock: the lock looks at the row again.
      const claim = Effect.fn("DeliveryQueue.claim")((limit: number, leaseMs: number) =>
        Effect.map(
          sql<ClaimedRow>`
            WITH heads AS (
              SELECT head.id FROM webhooks w CROSS JOIN LATERAL (
                SELECT d.id, d.next_attempt_at, d.claimed_until FROM webhook_deliveries d
                WHERE d.webhook_id = w.id AND d.status = 'pending' ORDER BY d.ordinal LIMIT 1
              ) head
              WHERE w.active AND head.next_attempt_at <= now() AND coalesce(head.claimed_until <= now(), true)
              ORDER BY head.next_attempt_at LIMIT ${limit}
            ), free AS (
              SELECT d.id FROM webhook_deliveries d JOIN heads USING (id)
              WHERE d.status = 'pending' AND d.next_attempt_at <= now() AND coalesce(d.claimed_until <= now(), true)
              FOR UPDATE OF d SKIP LOCKED
            )
            UPDATE webhook_deliveries d
            SET attempts = d.attempts + 1, tries = d.tries + 1, last_attempt_at = now(),
                claimed_until = now() + make_interval(secs => ${leaseMs / 1_000}::float8)
            FROM free, webhooks w WHERE d.id = free.id AND w.id = d.webhook_id
            RETURNING d.id::text AS id, d.webhook_id::text AS webhook_id, w.url, w.secret, d.event,
                      d.payload::text AS body, d.attempts, d.tries,
                      (extract(epoch FROM now() - d.queued_at) * 1000)::float8 AS age_ms`,
          (rows) => rows.map(toClaimed)
        )
      )

      /**
       * The subscription is locked before its delivery, as its removal does it: neither can wait for the other in a
       * circle.
       */
      const end = (delivery: ClaimedDelivery, status: "delivered" | "failed", answer: EndAnswer, deactivate: boolean) =>
        Effect.asVoid(sql`
          WITH owner AS (
            SELECT id FROM webhooks WHERE id = ${delivery.webhookId}::uuid FOR NO KEY UPDATE
          ), ended AS (
            UPDATE webhook_deliveries d
            SET status = ${status}, response_status = ${answer.responseStatus ?? null}::int,
                error_message = ${answer.errorMessage}, claimed_until = NULL, next_attempt_at = NULL,
                delivered_at = CASE WHEN ${status === "delivered"}::boolean THEN now() END
            FROM owner WHERE d.webhook_id = owner.id AND d.id = ${delivery.id}::uuid
              AND d.attempts = ${delivery.attempts} AND d.status = 'pending'
            RETURNING d.webhook_id, d.status, d.delivered_at
          )
          UPDATE webhooks w
          SET succeeded = w.succeeded + (ended.status = 'delivered')::int, failed = w.failed + (ended.status = 'failed')::int,
              last_delivered_at = coalesce(ended.delivered_at, w.last_delivered_at),
              active = w.active AND NOT ${deactivate}::boolean,
              updated_at = CASE WHEN ${deactivate}::boolean THEN now() ELSE w.updated_at END
          FROM ended WHERE w.id = ended.webhook_id`)

      const delivered = Effect.fn("DeliveryQueue.delivered")((delivery: ClaimedDelivery, responseStatus: number) =>
        end(delivery, "delivered", { responseStatus, errorMessage: null }, false)
      )
      const giveUp = Effect.fn("DeliveryQueue.giveUp")(
        (delivery: ClaimedDelivery, answer: FailedAnswer, { deactivate }: { readonly deactivate: boolean }) =>
          end(delivery, "failed", answer, deactivate)
      )

      const retry = Effect.fn("DeliveryQueue.retry")(
        (delivery: ClaimedDelivery, { errorMessage, responseStatus }: FailedAnswer, delayMs: number) =>
          Effect.asVoid(sql`
            UPDATE webhook_deliveries
            SET next_attempt_at = now() + make_interval(secs => ${delayMs / 1_000}::float8), claimed_until = NULL,
                response_status = ${responseStatus ?? null}::int, error_message = ${errorMessage}
            WHERE id = ${delivery.id}::uuid AND attempts = ${delivery.attempts} AND status = 'pending'`)
      )

      const release = Effect.fn("DeliveryQueue.release")((delivery: ClaimedDelivery) =>
        Effect.asVoid(sql`
          UPDATE webhook_deliveries SET claimed_until = NULL
          WHERE id = ${delivery.id}::uuid AND attempts = ${delivery.attempts} AND status = 'pending'`)
      )

      return DeliveryQueue.of({ claim, delivered, retry, giveUp, release })
    })
  )
}

interface EndAnswer {
  readonly responseStatus: number | undefined
  readonly errorMessage: string | null
}

interface ClaimedRow {
  readonly id: string
  readonly webhook_id: string
  readonly url: string
  readonly secret: string
  readonly event: string
  readonly body: string
  readonly attempts: number
  readonly tries: number
  readonly age_ms: number
}

const toClaimed = ({ age_ms, webhook_id, ...row }: ClaimedRow): ClaimedDelivery => ({
  ...row,
  webhookId: webhook_id,
  ageMs: age_ms
})
