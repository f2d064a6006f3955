import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { type ClaimedDelivery, type ClaimLimits, type Claims, makeDeliveryClaims } from "./DeliveryClaims.ts"

/** Counting stops here: any larger number means the same. */
const COUNTED = 10_000
/** Scrapes of all kinds cause one count in this time, and no scrape waits longer. Milliseconds. */
const COUNT_TTL_MS = 5_000
const COUNT_TIMEOUT_MS = 1_000

/** A subscription is slowed after this many attempts in a row that its receiver did not answer in time. */
export const SLOWED_AFTER = 2

/** Deliveries that are not settled yet, for the metrics; undefined while they cannot be counted. */
export class WebhookBacklog extends Context.Service<
  WebhookBacklog,
  { readonly count: Effect.Effect<number | undefined> }
>()("runplane/control-plane/WebhookBacklog") {
  static readonly layer = Layer.effect(
    WebhookBacklog,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const count = yield* sql<{ readonly pending: number }>`
        SELECT count(*)::int AS pending
        FROM (SELECT 1 FROM webhook_deliveries WHERE status = 'pending' LIMIT ${COUNTED}) counted`.pipe(
        Effect.map(([row]) => row?.pending),
        Effect.catch(() => Effect.succeed(undefined)),
        Effect.timeoutOrElse({ duration: COUNT_TIMEOUT_MS, orElse: () => Effect.succeed(undefined) }),
        Effect.cachedWithTTL(COUNT_TTL_MS)
      )
      return WebhookBacklog.of({ count })
    })
  )
}

export type { ClaimedDelivery, ClaimLimits, Claims }

export interface FailedAnswer {
  readonly responseStatus: number | undefined
  readonly errorMessage: string
}

/**
 * The outbox of webhook deliveries as the workers of all processes share it. Of a run only the first pending delivery
 * to a subscription can be claimed: the deliveries of a run arrive in order, and one that its receiver refuses delays
 * its own run alone. Times are the database's, so that the clocks of the processes do not matter.
 */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Claims due deliveries, those of the subscriptions that have waited longest first. */
    readonly claim: (limits: ClaimLimits) => Effect.Effect<Claims, SqlError>
    readonly delivered: (delivery: ClaimedDelivery, responseStatus: number) => Effect.Effect<void, SqlError>
    readonly retry: (delivery: ClaimedDelivery, answer: FailedAnswer, delayMs: number) => Effect.Effect<void, SqlError>
    /**
     * Holds back every delivery of the subscription for that long; a longer hold stays. Answers whether this began a
     * hold. Milliseconds.
     */
    readonly hold: (webhookId: string, holdMs: number) => Effect.Effect<boolean, SqlError>
    /**
     * Counts a time-out of the receiver, or that it has answered. Returns whether this has slowed the subscription: it
     * has one attempt at a time until it answers.
     */
    readonly answered: (webhookId: string, isTimeout: boolean) => Effect.Effect<boolean, SqlError>
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
      const claim = yield* makeDeliveryClaims

      /**
       * The subscription is locked before its delivery, as its removal does it: neither can wait for the other in a
       * circle. In its own statement, so that the next one sees the delays of the last claim.
       */
      const end = Effect.fnUntraced(function* (
        delivery: ClaimedDelivery,
        status: "delivered" | "failed",
        answer: EndAnswer,
        deactivate: boolean
      ) {
        yield* sql`SELECT id FROM webhooks WHERE id = ${delivery.webhookId}::uuid FOR NO KEY UPDATE`
        yield* sql`
          WITH ended AS (
            UPDATE webhook_deliveries d
            SET status = ${status}, response_status = ${answer.responseStatus ?? null}::int,
                error_message = ${answer.errorMessage}, claimed_until = NULL, next_attempt_at = NULL,
                delivered_at = CASE WHEN ${status === "delivered"}::boolean THEN now() END
            WHERE d.id = ${delivery.id}::uuid AND d.attempts = ${delivery.attempts} AND d.status = 'pending'
            RETURNING d.id, d.webhook_id, d.lane, d.status, d.delivered_at
          ), next AS (
            UPDATE webhook_deliveries d SET next_attempt_at = now()
            FROM ended CROSS JOIN LATERAL (
              SELECT n.id FROM webhook_deliveries n
              WHERE n.webhook_id = ended.webhook_id AND n.lane = ended.lane AND n.status = 'pending'
                AND n.id <> ended.id
              ORDER BY n.ordinal LIMIT 1
            ) following
            WHERE d.id = following.id AND d.next_attempt_at > now()
          )
          UPDATE webhooks w
          SET succeeded = w.succeeded + (ended.status = 'delivered')::int, failed = w.failed + (ended.status = 'failed')::int,
              last_delivered_at = coalesce(ended.delivered_at, w.last_delivered_at),
              timeouts = CASE WHEN ended.status = 'delivered' THEN 0 ELSE w.timeouts END,
              slowed_at = CASE WHEN ended.status = 'delivered' THEN NULL ELSE w.slowed_at END,
              active = w.active AND NOT ${deactivate}::boolean,
              updated_at = CASE WHEN ${deactivate}::boolean THEN now() ELSE w.updated_at END
          FROM ended WHERE w.id = ended.webhook_id`
      }, sql.withTransaction)

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

      const hold = Effect.fn("DeliveryQueue.hold")((webhookId: string, holdMs: number) =>
        Effect.map(
          sql<{ readonly begins: boolean }>`
            WITH before AS (
              SELECT id, coalesce(held_until <= now(), true) AS begins FROM webhooks
              WHERE id = ${webhookId}::uuid FOR NO KEY UPDATE
            )
            UPDATE webhooks w
            SET held_until = greatest(w.held_until, now() + make_interval(secs => ${holdMs / 1_000}::float8))
            FROM before WHERE w.id = before.id RETURNING before.begins`,
          ([row]) => row?.begins ?? false
        )
      )

      const answered = Effect.fn("DeliveryQueue.answered")((webhookId: string, isTimeout: boolean) =>
        Effect.map(
          isTimeout
            ? sql<{ readonly begins: boolean }>`
                WITH before AS (
                  SELECT id, slowed_at IS NULL AND timeouts + 1 >= ${SLOWED_AFTER} AS begins FROM webhooks
                  WHERE id = ${webhookId}::uuid FOR NO KEY UPDATE
                )
                UPDATE webhooks w
                SET timeouts = w.timeouts + 1, slowed_at = CASE WHEN before.begins THEN now() ELSE w.slowed_at END
                FROM before WHERE w.id = before.id RETURNING before.begins`
            : sql<{ readonly begins: boolean }>`
                UPDATE webhooks SET timeouts = 0, slowed_at = NULL WHERE id = ${webhookId}::uuid AND timeouts > 0
                RETURNING false AS begins`,
          ([row]) => row?.begins ?? false
        )
      )

      const release = Effect.fn("DeliveryQueue.release")((delivery: ClaimedDelivery) =>
        Effect.asVoid(sql`
          UPDATE webhook_deliveries SET claimed_until = NULL
          WHERE id = ${delivery.id}::uuid AND attempts = ${delivery.attempts} AND status = 'pending'`)
      )

      return DeliveryQueue.of({ claim, delivered, retry, hold, answered, giveUp, release })
    })
  )
}

interface EndAnswer {
  readonly responseStatus: number | undefined
  readonly errorMessage: string | null
}
