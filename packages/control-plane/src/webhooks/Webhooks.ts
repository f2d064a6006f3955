import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  controlPlaneError,
  type NewWebhook,
  type NotFound,
  type Webhook,
  type WebhookChange,
  type WebhookDeliveriesQuery,
  type WebhookDelivery,
  type WebhookDeliveryPage
} from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import { AuditTrail, type Caller } from "../admin/AuditTrail.ts"
import { Ids } from "../events/Ids.ts"
import { WebhookDispatcher } from "./WebhookDispatcher.ts"
import { WebhookRepository } from "./WebhookRepository.ts"
import { masked } from "./WebhookRows.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/**
 * Subscriptions to the life of runs (run-control-plane "Webhooks"; http-details sections 12 and 15). Every change commits with
 * its audit entry. A database that fails is a defect: no caller can do anything about it.
 */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** The only answer that shows the secret in full. */
    readonly create: (webhook: NewWebhook, caller: Caller) => Effect.Effect<Webhook, BadRequest>
    readonly list: Effect.Effect<ReadonlyArray<Webhook>>
    readonly update: (
      id: string,
      change: WebhookChange,
      caller: Caller
    ) => Effect.Effect<Webhook, BadRequest | NotFound>
    readonly remove: (id: string, caller: Caller) => Effect.Effect<void>
    readonly deliveries: (id: string, query: WebhookDeliveriesQuery) => Effect.Effect<WebhookDeliveryPage, NotFound>
    readonly redeliver: (
      id: string,
      deliveryId: string,
      caller: Caller
    ) => Effect.Effect<WebhookDelivery, NotFound | Conflict>
  }
>()("runplane/control-plane/Webhooks") {
  static readonly layerNoDeps = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const dispatcher = yield* WebhookDispatcher
      const ids = yield* Ids
      const repository = yield* WebhookRepository
      const transport = yield* WebhookTransport

      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

      const record = (action: string, id: string, details: Schema.JsonObject, caller: Caller, at: string) =>
        audit.record({ caller, action: `webhook.${action}`, resource: "webhook", resourceId: id, details, at })

      const demandAllowed = Effect.fnUntraced(function* (url: string) {
        const refusal = yield* transport.refusal(url)
        if (refusal !== undefined) return yield* badRequest(`url is not allowed: ${refusal}`)
      })

      const create = Effect.fn("Webhooks.create")(function* (webhook: NewWebhook, caller: Caller) {
        yield* demandAllowed(webhook.url)
        const id = yield* ids.uuid
        const at = yield* now
        const insert = Effect.tap(repository.insert(id, webhook, at), () =>
          record("create", id, { url: webhook.url, events: webhook.events }, caller, at)
        )
        return yield* Effect.orDie(sql.withTransaction(insert))
      })

      const list = Effect.map(Effect.orDie(repository.list), (webhooks) => webhooks.map(masked))

      const update = Effect.fn("Webhooks.update")(function* (id: string, change: WebhookChange, caller: Caller) {
        if (change.url !== undefined) yield* demandAllowed(change.url)
        const at = yield* now
        const apply = Effect.gen(function* () {
          if (!(yield* repository.update(id, change, at))) return undefined
          yield* record("update", id, describeChange(change), caller, at)
          return yield* repository.find(id)
        })
        const changed = yield* Effect.orDie(sql.withTransaction(apply))
        if (changed === undefined) return yield* webhookNotFound(id)
        yield* dispatcher.wake
        return masked(changed)
      })

      const remove = Effect.fn("Webhooks.remove")(function* (id: string, caller: Caller) {
        const at = yield* now
        const apply = Effect.gen(function* () {
          if (yield* repository.remove(id)) yield* record("delete", id, {}, caller, at)
        })
        yield* Effect.orDie(sql.withTransaction(apply))
      })

      const deliveries = Effect.fn("Webhooks.deliveries")(function* (id: string, query: WebhookDeliveriesQuery) {
        const page = yield* Effect.orDie(repository.deliveries(id, query))
        if (page.total === 0 && (yield* Effect.orDie(repository.find(id))) === undefined) {
          return yield* webhookNotFound(id)
        }
        return { ...page, limit: query.limit, offset: query.offset }
      })

      const redeliver = Effect.fn("Webhooks.redeliver")(function* (id: string, deliveryId: string, caller: Caller) {
        const at = yield* now
        const requeue = Effect.tap(repository.requeue(id, deliveryId), (requeued) =>
          requeued._tag === "Requeued" ? record("redeliver", id, { deliveryId }, caller, at) : Effect.void
        )
        const requeued = yield* Effect.orDie(sql.withTransaction(requeue))
        switch (requeued._tag) {
          case "NoSuchWebhook":
            return yield* webhookNotFound(id)
          case "NoSuchDelivery":
            return yield* controlPlaneError("NOT_FOUND", `delivery ${deliveryId} not found`)
          case "Inactive":
            return yield* controlPlaneError("CONFLICT", `webhook ${id} is not active`)
          case "Requeued":
            yield* dispatcher.wake
            return requeued.delivery
        }
      })

      return Webhooks.of({ create, list, update, remove, deliveries, redeliver })
    })
  )
}

const webhookNotFound = (id: string) => controlPlaneError("NOT_FOUND", `webhook ${id} not found`)

/** What changed; of the secret only that it did. */
const describeChange = ({ secret, ...change }: WebhookChange): Schema.JsonObject => ({
  ...change,
  ...(secret !== undefined && { secret: "changed" })
})
