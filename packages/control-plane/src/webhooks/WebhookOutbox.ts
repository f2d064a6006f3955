import * as PgClient from "@effect/sql-pg/PgClient"
import type { WebhookEvent } from "@runplane/api"
import type { EventDraft, RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"

/** A change of a run's status, as the log applies it. */
export interface AppliedChange {
  readonly runId: string
  readonly status: RunStatus
  /** The events of the same append: they tell a resumed run from one that has just begun. */
  readonly drafts: ReadonlyArray<Pick<EventDraft, "type">>
  /** ISO-8601. */
  readonly at: string
  readonly error: string | undefined
}

/**
 * Writes the deliveries of a change of status, one for each active subscription that wants it, to be called inside the
 * transaction of the change (http-details section 12; design rule 1). The key-share lock keeps a subscription that is being
 * removed at the same moment from failing the append: nothing of a webhook may ever hurt a run.
 */
export const makeWebhookOutbox = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return Effect.fnUntraced(function* (change: AppliedChange) {
    const event = webhookEventOf(change)
    if (event === undefined) return
    yield* sql`
      INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, next_attempt_at, created_at)
      SELECT id, ${change.runId}::uuid, ${event}, ${payloadOf(event, change)}::text::json, now(), ${change.at}::timestamptz
      FROM webhooks WHERE active AND (events = '{}' OR ${event} = ANY(events))
      FOR KEY SHARE`
  })
})

/** run.started is told when the run enters `running`; a run that is resumed enters it again, and is told of as resumed. */
export const webhookEventOf = ({
  drafts,
  status
}: Pick<AppliedChange, "drafts" | "status">): WebhookEvent | undefined => {
  switch (status) {
    case "queued":
    case "starting":
    case "binding_session":
      return undefined
    case "running":
      return drafts.some(({ type }) => type === "run.resumed") ? "run.resumed" : "run.started"
    default:
      return `run.${status}`
  }
}

const payloadOf = (event: WebhookEvent, { at, error, runId, status }: AppliedChange): string =>
  JSON.stringify({ event, runId, status, timestamp: at, ...(error !== undefined && { data: { error } }) })
