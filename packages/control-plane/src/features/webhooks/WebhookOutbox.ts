import type { WebhookEvent } from "@runplane/api"
import type { CanonicalEvent, RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { AppliedChange, Reactor, WrittenAppend } from "../../event-log/append/Reactors.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"

/**
 * Enqueues the notifications of the changes of status, and wakes their delivery when they are committed
 * (docs/reference/webhooks.md#webhook-delivery).
 */
export const makeWebhookOutbox = Effect.map(Outbox, ({ enqueue, wake }): Reactor => {
  const inTransaction = (appends: ReadonlyArray<WrittenAppend>) => {
    const notices = appends.flatMap(({ runId, ...append }) =>
      reportsOf(append).map(({ change, event }) => ({
        runId,
        event,
        at: change.at,
        payload: payloadOf(event, runId, change)
      }))
    )
    return notices.length === 0 ? [] : [enqueue(notices)]
  }
  const afterCommit = (appends: ReadonlyArray<WrittenAppend>) => {
    if (appends.some((append) => reportsOf(append).length > 0)) wake()
  }
  return { inTransaction, afterCommit }
})

/** An event of webhooks, and the change of status that it reports. */
interface Report {
  readonly event: WebhookEvent
  readonly change: AppliedChange
}

/**
 * The reports of an append. A run of telemetry is created as running, without a change, or with its end; the correction
 * of its end is not a transition.
 */
export const reportsOf = ({ change, events }: Pick<WrittenAppend, "change" | "events">): ReadonlyArray<Report> => {
  const corrected = events.find((event) => event.type === "run.corrected")
  if (corrected?.data.status !== undefined) {
    const { error, status: to } = corrected.data
    return [{ event: "run.corrected", change: { to, at: corrected.ts, error } }]
  }
  const started = events[0]?.type === "run.created" ? events.find(({ type }) => type === "run.started") : undefined
  const reports: Array<Report> = []
  if (started !== undefined) {
    reports.push({ event: "run.started", change: { to: "running", at: started.ts, error: undefined } })
  }
  const event = change && webhookEventOf(change.to, events)
  if (change !== undefined && event !== undefined) reports.push({ event, change })
  return reports
}

/**
 * run.started is sent when the run enters `running`. A resumed run enters it again, and run.resumed is sent.
 * The events of the same append distinguish the two.
 */
export const webhookEventOf = (
  status: RunStatus,
  events: ReadonlyArray<Pick<CanonicalEvent, "type">>
): WebhookEvent | undefined => {
  switch (status) {
    case "queued":
    case "starting":
    case "binding_session":
      return undefined
    case "running":
      return events.some(({ type }) => type === "run.resumed") ? "run.resumed" : "run.started"
    default:
      return `run.${status}`
  }
}

const payloadOf = (event: WebhookEvent, runId: string, { at, error, to }: AppliedChange): string =>
  JSON.stringify({ event, runId, status: to, timestamp: at, ...(error !== undefined && { data: { error } }) })
