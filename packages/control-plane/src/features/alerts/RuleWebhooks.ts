import * as PgClient from "@effect/sql-pg/PgClient"
import { type BadRequest, badRequest } from "@runplane/api"
import { ALERT_EVENTS, type AlertAction, type AlertRule } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { Ids } from "../../platform/Ids.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"

/** The caller of removals that follow the last delivery, and no request. */
export const evaluatorCaller: Caller = {
  actor: { actorId: "alerts", actorType: "rule", role: "admin" },
  requestId: "",
  address: ""
}

/**
 * The subscription that a rule has for a URL, which is a credential (docs/reference/alerts.md#actions). One that a rule
 * has made is removed with the last rule that uses it.
 */
export const makeRuleWebhooks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const ids = yield* Ids
  const webhooks = yield* Webhooks

  const subscriptionOf = Effect.fnUntraced(function* (url: string, field: string, caller: Caller) {
    const events = [...ALERT_EVENTS]
    const [known] = yield* sql<{ readonly id: string }>`
      SELECT id::text AS id FROM webhooks WHERE url = ${url} AND active AND events @> ${events}::text[]
      ORDER BY created_at LIMIT 1`
    if (known !== undefined) return known.id
    const secret = `${yield* ids.traceId}${yield* ids.traceId}`
    const made = yield* webhooks
      .create({ url, events, secret }, caller, { forRules: true })
      .pipe(Effect.catchTag("BadRequest", ({ message }) => Effect.fail(badRequest(`${field}.${message}`))))
    return made.id
  })

  /** The action with a subscription in place of its URL; an error names the field. */
  const resolve = Effect.fnUntraced(function* (
    action: AlertAction,
    field: string,
    caller: Caller
  ): Effect.fn.Return<AlertAction, BadRequest | SqlError> {
    if (action.type !== "webhook") return action
    const { url, ...stored } = action
    if (url !== undefined) return { ...stored, subscription: yield* subscriptionOf(url, field, caller) }
    const [known] = yield* sql`SELECT FROM webhooks WHERE id::text = lower(${action.subscription ?? ""})`
    if (known === undefined) return yield* badRequest(`${field}.subscription is not a webhook subscription`)
    return stored
  })

  /**
   * Whether all subscriptions of a rule exist. In a transaction that holds the cursor, as removals do: one that exists
   * stays until the rule is stored.
   */
  const exist = Effect.fnUntraced(function* ({ levels }: AlertRule) {
    const named = new Set(
      levels.flatMap(({ actions }) =>
        actions.flatMap((action) => (action.type === "webhook" ? (action.subscription?.toLowerCase() ?? []) : []))
      )
    )
    if (named.size === 0) return true
    const found = yield* sql`SELECT FROM webhooks WHERE id::text = ANY(${[...named]}::text[])`
    return found.length === named.size
  })

  return { resolve, exist }
})

/**
 * Removes the subscriptions that rules have made and no rule uses any more. One stays while an open firing, a command
 * or a delivery still needs it. In a transaction that holds the cursor.
 */
export const makeUnusedWebhooks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const audit = yield* AuditTrail
  return Effect.fnUntraced(function* (caller: Caller, at: string) {
    const unused = yield* sql<{ readonly id: string }>`
      SELECT w.id::text AS id FROM webhooks w
      WHERE w.made_for_rules AND NOT EXISTS (SELECT FROM alert_rules r WHERE strpos(lower(r.rule::text), w.id::text) > 0)`
    if (unused.length === 0) return
    const removed = yield* sql<{ readonly id: string }>`
      DELETE FROM webhooks w
      WHERE w.id = ANY(${unused.map(({ id }) => id)}::text[]::uuid[])
        AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending')
        AND NOT EXISTS (
          SELECT FROM alert_firings f WHERE strpos(lower(f.actions::text), w.id::text) > 0 AND (f.resolved_at IS NULL
            OR EXISTS (SELECT FROM alert_commands c WHERE c.firing_id = f.id AND c.done_at IS NULL)))
      RETURNING w.id::text AS id`
    yield* Effect.forEach(
      removed,
      ({ id }) =>
        audit.record({
          ...{ caller, action: "webhook.delete", resource: "webhook", resourceId: id, at },
          details: { reason: "no alert rule uses it" }
        }),
      { discard: true }
    )
  })
})
