import * as PgClient from "@effect/sql-pg/PgClient"
import type { WebhookFormat } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import type { Statement } from "effect/sql/Statement"
import { unnestRows } from "../postgres/UnnestRows.ts"

const NOTICE_COLUMNS = {
  run_id: "uuid",
  firing_id: "uuid",
  subscription: "uuid",
  event: "text",
  format: "text",
  payload: "json",
  at: "timestamptz"
} as const

/**
 * A notification that is to be delivered, about a run, a firing, or both. Those about a run reach a subscription in
 * their order, and so do those about a firing without a run.
 */
export interface Notice {
  readonly runId?: string | undefined
  readonly firingId?: string
  /** The only receiver; absent for each active subscription that wants the event. */
  readonly subscription?: string
  readonly event: string
  /** The subscriptions that get it have this format, unless one is named; absent: `generic`. */
  readonly format?: WebhookFormat
  /** The body, JSON. */
  readonly payload: string
  /** ISO-8601. */
  readonly at: string
}

/** Members of delivered bodies that are erased. */
export interface Erasure {
  readonly runId: string
  readonly event: string
  /** The member that identifies the body, and its value. */
  readonly path: ReadonlyArray<string>
  readonly id: string
  readonly members: ReadonlyArray<ReadonlyArray<string>>
}

/**
 * Notifications on their way to webhooks: a feature adds one in the transaction of what it reports, and the webhooks
 * deliver it (docs/reference/webhooks.md#webhook-delivery).
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * The INSERT, for the transaction of what is reported. The key-share lock keeps a subscription that is being
     * removed at the same moment from failing it: nothing of a webhook may ever hurt a run.
     */
    readonly enqueue: (notices: ReadonlyArray<Notice>) => Statement<object>
    /** Removes members from notifications, also from delivered ones. */
    readonly erase: (erasure: Erasure) => Effect.Effect<void, SqlError>
    /** Notifications were committed. Returns at once. */
    readonly wake: () => void
    /** Waits for the next `wake`. */
    readonly woken: Effect.Effect<void>
  }
>()("runplane/control-plane/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const signal = yield* Queue.sliding<void>(1)
      return Outbox.of({
        enqueue: (notices) => sql`
          INSERT INTO webhook_deliveries (webhook_id, run_id, firing_id, event, payload, next_attempt_at, created_at)
          SELECT w.id, due.run_id, due.firing_id, due.event, due.payload, now(), due.at
          FROM ${unnestRows(
            sql,
            notices.map(({ firingId = null, format = "generic", runId = null, subscription = null, ...notice }) => ({
              ...{ run_id: runId, firing_id: firingId, subscription, format },
              ...notice
            })),
            NOTICE_COLUMNS,
            { ordinal: true }
          )} AS due
          JOIN webhooks w ON w.active AND CASE
            WHEN due.subscription IS NULL THEN w.format = due.format AND (w.events = '{}' OR due.event = ANY(w.events))
            ELSE w.id = due.subscription END
          ORDER BY due.ordinal
          FOR KEY SHARE OF w`,
        erase: Effect.fn("Outbox.erase")(
          ({ event, id, members, path, runId }) => sql`
            UPDATE webhook_deliveries
            SET payload = (payload::jsonb ${sql.join(" ", false)(members.map((member) => sql`#- ${member}::text[]`))})::json
            WHERE run_id = ${runId}::uuid AND event = ${event} AND payload #>> ${path}::text[] = ${id}`
        ),
        wake: () => {
          Queue.offerUnsafe(signal, undefined)
        },
        woken: Queue.take(signal)
      })
    })
  )
}
