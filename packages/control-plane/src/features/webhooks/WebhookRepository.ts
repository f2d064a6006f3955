import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type NewWebhook,
  WEBHOOK_TEST,
  type Webhook,
  type WebhookChange,
  type WebhookDeliveriesQuery,
  type WebhookDelivery
} from "@runplane/api"
import type { WebhookFormat } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { type ListPage, type RowId, readPage, rowsOfIds } from "../../platform/http/ListPage.ts"
import type { BoundedRows } from "../../platform/postgres/BoundedRows.ts"
import { type DeliveryRow, toDelivery, toWebhook, type WebhookRow } from "./WebhookRows.ts"

export type Requeued =
  | { readonly _tag: "Requeued"; readonly delivery: WebhookDelivery }
  | { readonly _tag: "NoSuchDelivery" }
  | { readonly _tag: "NoSuchWebhook" }
  | { readonly _tag: "Inactive" }

export type QueuedTest =
  | { readonly _tag: "Queued"; readonly delivery: WebhookDelivery }
  | { readonly _tag: "NoSuchWebhook" }
  | { readonly _tag: "Inactive" }

/** The rows of subscriptions and of their deliveries. Secrets are in full here. `at` is ISO-8601. */
export class WebhookRepository extends Context.Service<
  WebhookRepository,
  {
    /** One that is made for rules is removed with the last rule that uses it. */
    readonly insert: (
      id: string,
      webhook: NewWebhook,
      at: string,
      forRules?: boolean
    ) => Effect.Effect<Webhook, SqlError>
    /** The ids of all of them, the oldest first. */
    readonly ids: Effect.Effect<ReadonlyArray<string>, SqlError>
    /** The first of these, as many as may be held at a time. */
    readonly list: (ids: ReadonlyArray<string>) => Effect.Effect<BoundedRows<Webhook>, SqlError>
    readonly find: (id: string) => Effect.Effect<Webhook | undefined, SqlError>
    /** False when there is no such subscription. */
    readonly update: (id: string, change: WebhookChange, at: string) => Effect.Effect<boolean, SqlError>
    readonly remove: (id: string) => Effect.Effect<boolean, SqlError>
    /** The ids of the deliveries of a page, the latest first, and how many match in all. */
    readonly deliveryIds: (id: string, query: WebhookDeliveriesQuery) => Effect.Effect<ListPage<RowId>, SqlError>
    /** The first of these, as many as may be held at a time. */
    readonly deliveries: (ids: ReadonlyArray<string>) => Effect.Effect<BoundedRows<WebhookDelivery>, SqlError>
    /**
     * Puts an ended delivery behind the pending ones, or makes a waiting one due. To be called inside a transaction.
     */
    readonly requeue: (id: string, deliveryId: string) => Effect.Effect<Requeued, SqlError>
    /** Adds a delivery of the event `webhook.test`. To be called inside a transaction. */
    readonly enqueueTest: (
      id: string,
      payloadOf: (format: WebhookFormat) => string,
      at: string
    ) => Effect.Effect<QueuedTest, SqlError>
  }
>()("runplane/control-plane/WebhookRepository") {
  static readonly layer = Layer.effect(
    WebhookRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      // Counts only pending deliveries, by an index of those; ended ones are counted when they end.
      const webhookColumns = sql`
        w.id::text AS id, w.url, w.events, w.secret, w.format, w.active, w.created_at, w.updated_at, w.succeeded, w.failed,
        w.last_delivered_at, w.slowed_at, w.made_for_rules, (SELECT count(*) FROM webhook_deliveries d
                              WHERE d.webhook_id = w.id AND d.status = 'pending') AS pending`

      const find = Effect.fn("WebhookRepository.find")((id: string) =>
        Effect.map(
          sql<WebhookRow>`SELECT ${webhookColumns} FROM webhooks w WHERE w.id = ${id}::uuid`,
          ([row]) => row && toWebhook(row)
        )
      )
      const webhookIds = Effect.map(
        sql<{ readonly id: string }>`SELECT id::text AS id FROM webhooks ORDER BY created_at, webhooks.id`,
        (rows) => rows.map(({ id }) => id)
      ).pipe(Effect.withSpan("WebhookRepository.ids"))
      const webhookRows = rowsOfIds<WebhookRow>(sql, {
        from: sql`webhooks w`,
        id: sql`w.id`,
        columns: webhookColumns,
        large: ["w.url", "w.events"]
      })
      const list = Effect.fn("WebhookRepository.list")((ids: ReadonlyArray<string>) =>
        Effect.map(webhookRows(ids), (part) => ({ ...part, rows: part.rows.map(toWebhook) }))
      )

      const insert = Effect.fn("WebhookRepository.insert")(
        (id: string, { events, format = "generic", secret, url }: NewWebhook, at: string, forRules = false) =>
          Effect.map(
            sql<{ readonly created_at: Date }>`
            INSERT INTO webhooks (id, url, events, secret, format, created_at, updated_at, made_for_rules)
            VALUES (${id}::uuid, ${url}, ${events}::text[], ${secret}, ${format}, ${at}::timestamptz, ${at}::timestamptz,
                    ${forRules}::boolean)`,
            (): Webhook => ({
              ...{ id, url, events, secret, active: true, createdAt: at, updatedAt: at },
              ...(format !== "generic" && { format }),
              ...(forRules && { madeForRules: true }),
              deliveryStats: { total: 0, succeeded: 0, failed: 0 }
            })
          )
      )

      const update = Effect.fn("WebhookRepository.update")((id: string, change: WebhookChange, at: string) =>
        Effect.map(
          sql`
            UPDATE webhooks
            SET url = coalesce(${change.url ?? null}::text, url), secret = coalesce(${change.secret ?? null}::text, secret),
                events = CASE WHEN ${change.events !== undefined}::boolean THEN ${change.events ?? []}::text[] ELSE events END,
                active = coalesce(${change.active ?? null}::boolean, active), updated_at = ${at}::timestamptz,
                -- With other events it serves more than the rules.
                made_for_rules = made_for_rules AND ${change.events === undefined}::boolean,
                held_until = CASE WHEN ${isSameReceiver(change)}::boolean THEN held_until END,
                timeouts = CASE WHEN ${isSameReceiver(change)}::boolean THEN timeouts ELSE 0 END,
                slowed_at = CASE WHEN ${isSameReceiver(change)}::boolean THEN slowed_at END
            WHERE id = ${id}::uuid RETURNING id`,
          (rows) => rows.length > 0
        )
      )

      const remove = Effect.fn("WebhookRepository.remove")((id: string) =>
        Effect.map(sql`DELETE FROM webhooks WHERE id = ${id}::uuid RETURNING id`, (rows) => rows.length > 0)
      )

      const columns = sql`
        id::text AS id, webhook_id::text AS webhook_id, run_id::text AS run_id, firing_id::text AS firing_id, event, payload::text AS payload, status,
        attempts, last_attempt_at, response_status, error_message, created_at, delivered_at,
        CASE WHEN status = 'pending' THEN greatest(next_attempt_at, (
          SELECT w.held_until FROM webhooks w WHERE w.id = webhook_id)) END AS next_attempt_at`

      const deliveryIds = Effect.fn("WebhookRepository.deliveryIds")(function* (
        id: string,
        query: WebhookDeliveriesQuery
      ) {
        const where = sql.and([
          sql`webhook_id = ${id}::uuid`,
          ...(query.status === undefined ? [] : [sql`status = ${query.status}`])
        ])
        const { limit, offset } = query
        const from = sql`webhook_deliveries`
        const order = sql`ordinal DESC`
        return yield* readPage<RowId>(sql, { columns: sql`id::text AS id`, from, where, order, limit, offset })
      })

      const deliveryRows = rowsOfIds<DeliveryRow>(sql, {
        from: sql`webhook_deliveries`,
        columns,
        large: ["payload", "error_message"]
      })
      const deliveries = Effect.fn("WebhookRepository.deliveries")((ids: ReadonlyArray<string>) =>
        Effect.map(deliveryRows(ids), (part) => ({ ...part, rows: part.rows.map(toDelivery) }))
      )

      /** The subscription is locked first, as the worker and the removal do it. */
      const requeue = Effect.fn("WebhookRepository.requeue")(function* (id: string, deliveryId: string) {
        const [webhook] = yield* sql<{ readonly active: boolean }>`
          SELECT active FROM webhooks WHERE id = ${id}::uuid FOR NO KEY UPDATE`
        if (webhook === undefined) return noSuchWebhook
        const [current] = yield* sql<Pick<DeliveryRow, "status">>`
          SELECT status FROM webhook_deliveries WHERE id = ${deliveryId}::uuid AND webhook_id = ${id}::uuid FOR UPDATE`
        if (current === undefined) return noSuchDelivery
        if (!webhook.active) return inactive
        yield* endHold(id)
        const [row] = yield* current.status === "pending" ? makeDue(deliveryId) : putBack(deliveryId)
        if (current.status !== "pending") yield* uncount(id, current.status)
        return row === undefined ? noSuchDelivery : { _tag: "Requeued" as const, delivery: toDelivery(row) }
      })

      // An attempt under way keeps its claim: it is not made a second time beside itself.
      const makeDue = (deliveryId: string) => sql<DeliveryRow>`
        UPDATE webhook_deliveries SET next_attempt_at = least(next_attempt_at, now())
        WHERE id = ${deliveryId}::uuid RETURNING ${columns}`

      const putBack = (deliveryId: string) => sql<DeliveryRow>`
        UPDATE webhook_deliveries
        SET status = 'pending', ordinal = DEFAULT, tries = 0, queued_at = now(), next_attempt_at = now(),
            claimed_until = NULL, delivered_at = NULL
        WHERE id = ${deliveryId}::uuid RETURNING ${columns}`

      // A delivery that a caller requests ignores an earlier `Retry-After` of the receiver.
      const endHold = (id: string) =>
        sql`UPDATE webhooks SET held_until = NULL WHERE id = ${id}::uuid AND held_until IS NOT NULL`

      const uncount = (id: string, status: "delivered" | "failed") => sql`
        UPDATE webhooks SET succeeded = succeeded - ${status === "delivered" ? 1 : 0}::int,
                            failed = failed - ${status === "failed" ? 1 : 0}::int
        WHERE id = ${id}::uuid`

      const enqueueTest = Effect.fn("WebhookRepository.enqueueTest")(function* (
        id: string,
        payloadOf: (format: WebhookFormat) => string,
        at: string
      ) {
        const [webhook] = yield* sql<Pick<WebhookRow, "active" | "format">>`
          SELECT active, format FROM webhooks WHERE id = ${id}::uuid FOR KEY SHARE`
        if (webhook === undefined) return { _tag: "NoSuchWebhook" as const }
        if (!webhook.active) return { _tag: "Inactive" as const }
        yield* endHold(id)
        const [row] = yield* sql<DeliveryRow>`
          INSERT INTO webhook_deliveries (webhook_id, event, payload, next_attempt_at, created_at)
          VALUES (${id}::uuid, ${WEBHOOK_TEST}, ${payloadOf(webhook.format)}::json, now(), ${at}::timestamptz)
          RETURNING ${columns}`
        return row === undefined
          ? { _tag: "NoSuchWebhook" as const }
          : { _tag: "Queued" as const, delivery: toDelivery(row) }
      })

      return WebhookRepository.of({
        insert,
        ids: webhookIds,
        list,
        find,
        update,
        remove,
        deliveryIds,
        deliveries,
        requeue,
        enqueueTest
      })
    })
  )
}

const isSameReceiver = ({ active, url }: WebhookChange): boolean => url === undefined && active === undefined

const noSuchWebhook: Requeued = { _tag: "NoSuchWebhook" }
const noSuchDelivery: Requeued = { _tag: "NoSuchDelivery" }
const inactive: Requeued = { _tag: "Inactive" }
