import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  ControlPlaneApi,
  controlPlaneError,
  mayUse,
  type NewWebhook,
  type NotFound,
  type Role,
  WEBHOOK_TEST,
  type Webhook,
  type WebhookChange,
  type WebhookDeliveriesQuery,
  type WebhookDelivery
} from "@runplane/api"
import { chatBody, TEST_MESSAGE, type WebhookFormat } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { jsonPages, listPage, type TextPage } from "../../platform/http/JsonAnswer.ts"
import { pageText } from "../../platform/http/ListPage.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Ids } from "../../platform/Ids.ts"
import { isoNow } from "../../platform/IsoNow.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { WebhookRepository } from "./WebhookRepository.ts"
import { masked, originOf, withoutPath } from "./WebhookRows.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/**
 * Subscriptions to the life of runs (docs/reference/webhooks.md#webhook-subscriptions). Every change commits with
 * its audit entry.
 */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** The only answer that shows the secret in full. */
    readonly create: (
      webhook: NewWebhook,
      caller: Caller,
      options?: { readonly forRules: boolean }
    ) => Effect.Effect<Webhook, BadRequest | SqlError>
    /** An array of subscriptions as text, read lazily; callers that may test them see full addresses. */
    readonly list: (role: Role) => Effect.Effect<TextPage<SqlError>, SqlError>
    readonly update: (
      id: string,
      change: WebhookChange,
      caller: Caller
    ) => Effect.Effect<Webhook, BadRequest | NotFound | SqlError>
    readonly remove: (id: string, caller: Caller) => Effect.Effect<void, SqlError>
    /** A `WebhookDeliveryPage` as text, which is read as it is taken. */
    readonly deliveries: (
      id: string,
      query: WebhookDeliveriesQuery
    ) => Effect.Effect<TextPage<SqlError>, NotFound | SqlError>
    /** Sends the event `webhook.test` (docs/reference/webhooks.md#webhook-test). */
    readonly test: (id: string, caller: Caller) => Effect.Effect<WebhookDelivery, NotFound | Conflict | SqlError>
    readonly redeliver: (
      id: string,
      deliveryId: string,
      caller: Caller
    ) => Effect.Effect<WebhookDelivery, NotFound | Conflict | SqlError>
  }
>()("runplane/control-plane/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const outbox = yield* Outbox
      const ids = yield* Ids
      const repository = yield* WebhookRepository
      const transport = yield* WebhookTransport

      const now = isoNow

      const record = (action: string, id: string, details: Schema.JsonObject, caller: Caller, at: string) =>
        audit.record({ caller, action: `webhook.${action}`, resource: "webhook", resourceId: id, details, at })

      const requireAllowedTarget = Effect.fnUntraced(function* (url: string) {
        const refusal = yield* transport.refusal(url)
        if (refusal !== undefined) return yield* badRequest(`url is not allowed: ${refusal}`)
      })

      const create = Effect.fn("Webhooks.create")(function* (
        webhook: NewWebhook,
        caller: Caller,
        options = { forRules: false }
      ) {
        yield* requireAllowedTarget(webhook.url)
        yield* requireChatEvents(webhook.format, webhook.events)
        const id = yield* ids.uuid
        const at = yield* now
        const insert = Effect.tap(repository.insert(id, webhook, at, options.forRules), () =>
          record("create", id, describeNew(webhook), caller, at)
        )
        return yield* sql.withTransaction(insert)
      })

      const list = (role: Role) => {
        const shown = mayUse(role, "operator") ? masked : withoutPath
        return Effect.flatMap(repository.ids, (ids) =>
          listPage(ids, repository.list, (webhook) => JSON.stringify(shown(webhook)), "]", "[")
        )
      }

      const update = Effect.fn("Webhooks.update")(function* (id: string, change: WebhookChange, caller: Caller) {
        if (change.url !== undefined) yield* requireAllowedTarget(change.url)
        const at = yield* now
        const apply = Effect.gen(function* () {
          if (change.events !== undefined) {
            yield* requireChatEvents((yield* repository.find(id))?.format, change.events)
          }
          if (!(yield* repository.update(id, change, at))) return undefined
          yield* record("update", id, describeChange(change), caller, at)
          return yield* repository.find(id)
        })
        const changed = yield* sql.withTransaction(apply)
        if (changed === undefined) return yield* webhookNotFound(id)
        outbox.wake()
        return masked(changed)
      })

      const remove = Effect.fn("Webhooks.remove")(function* (id: string, caller: Caller) {
        const at = yield* now
        const apply = Effect.gen(function* () {
          if (yield* repository.remove(id)) yield* record("delete", id, {}, caller, at)
        })
        yield* sql.withTransaction(apply)
      })

      const deliveries = Effect.fn("Webhooks.deliveries")(function* (id: string, query: WebhookDeliveriesQuery) {
        const page = yield* repository.deliveryIds(id, query)
        if (page.total === 0 && (yield* repository.find(id)) === undefined) {
          return yield* webhookNotFound(id)
        }
        return yield* pageText(page, query, repository.deliveries, (delivery) => JSON.stringify(delivery))
      })

      const test = Effect.fn("Webhooks.test")(function* (id: string, caller: Caller) {
        const at = yield* now
        const runId = yield* ids.uuid
        const payload = { event: WEBHOOK_TEST, runId, status: "completed", timestamp: at }
        const payloadOf = (format: WebhookFormat) =>
          JSON.stringify(format === "generic" ? payload : chatBody(format, TEST_MESSAGE))
        const enqueue = Effect.tap(repository.enqueueTest(id, payloadOf, at), (queued) =>
          queued._tag === "Queued" ? record("test", id, { deliveryId: queued.delivery.id }, caller, at) : Effect.void
        )
        const queued = yield* sql.withTransaction(enqueue)
        switch (queued._tag) {
          case "NoSuchWebhook":
            return yield* webhookNotFound(id)
          case "Inactive":
            return yield* webhookInactive(id)
          case "Queued":
            outbox.wake()
            return queued.delivery
        }
      })

      const redeliver = Effect.fn("Webhooks.redeliver")(function* (id: string, deliveryId: string, caller: Caller) {
        const at = yield* now
        const requeue = Effect.tap(repository.requeue(id, deliveryId), (requeued) =>
          requeued._tag === "Requeued" ? record("redeliver", id, { deliveryId }, caller, at) : Effect.void
        )
        const requeued = yield* sql.withTransaction(requeue)
        switch (requeued._tag) {
          case "NoSuchWebhook":
            return yield* webhookNotFound(id)
          case "NoSuchDelivery":
            return yield* controlPlaneError("NOT_FOUND", `delivery ${deliveryId} not found`)
          case "Inactive":
            return yield* webhookInactive(id)
          case "Requeued":
            outbox.wake()
            return requeued.delivery
        }
      })

      return Webhooks.of({ create, list, update, remove, deliveries, test, redeliver })
    })
  )
}

/** A chat gets messages about questions to people alone: another event would never reach it. */
const requireChatEvents = (format: WebhookFormat | undefined, events: ReadonlyArray<string>) => {
  const other = events.find((event) => !event.startsWith("item."))
  return format === undefined || format === "generic" || other === undefined
    ? Effect.void
    : badRequest(`events: the format ${format} has messages of item events alone, got ${other}`)
}

const webhookInactive = (id: string) => controlPlaneError("CONFLICT", `webhook ${id} is not active`)

const webhookNotFound = (id: string) => controlPlaneError("NOT_FOUND", `webhook ${id} not found`)

const describeNew = ({ events, format, url }: NewWebhook): Schema.JsonObject => ({
  ...{ url: originOf(url), events },
  ...(format !== undefined && { format })
})

/** What changed; of the secret only that it did, of the address its origin: every viewer reads and searches the log. */
const describeChange = ({ secret, url, ...change }: WebhookChange): Schema.JsonObject => ({
  ...change,
  ...(url !== undefined && { url: originOf(url) }),
  ...(secret !== undefined && { secret: "changed" })
})

/** The webhook endpoints (docs/reference/webhooks.md#webhook-subscriptions). */
export const WebhooksHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      create: ({ payload }) => asCaller((caller) => webhooks.create(payload, caller)),
      list: () => asCaller(({ actor }) => Effect.map(webhooks.list(actor.role), jsonPages)),
      update: ({ params, payload }) => asCaller((caller) => webhooks.update(params.id, payload, caller)),
      remove: ({ params }) => asCaller((caller) => webhooks.remove(params.id, caller)),
      deliveries: ({ params, query }) => orUnavailable(Effect.map(webhooks.deliveries(params.id, query), jsonPages)),
      test: ({ params }) => asCaller((caller) => webhooks.test(params.id, caller)),
      redeliver: ({ params }) => asCaller((caller) => webhooks.redeliver(params.id, params.deliveryId, caller))
    })
  })
)
