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
    const notices = appends.flatMap((append) => {
      const { events, runId } = append
      const change = changeOf(append)
      if (change === undefined) return []
      const isCorrected = append.change === undefined && change.to !== "running"
      const event = isCorrected ? "run.corrected" : webhookEventOf(change.to, events)
      return event === undefined
        ? []
        : [{ lane: runId, event, at: change.at, payload: payloadOf(event, runId, change) }]
    })
    return notices.length === 0 ? [] : [enqueue(notices)]
  }
  const afterCommit = (appends: ReadonlyArray<WrittenAppend>) => {
    if (appends.some((append) => changeOf(append) !== undefined)) wake()
  }
  return { inTransaction, afterCommit }
})

/**
 * The change of an append. A run of telemetry is created as running, without a change, and the correction of its end is
 * no transition.
 */
const changeOf = ({ change, events }: WrittenAppend): AppliedChange | undefined => {
  const corrected = events.find((event) => event.type === "run.corrected")
  if (corrected?.data.status !== undefined) {
    return { to: corrected.data.status, at: corrected.ts, error: corrected.data.error }
  }
  if (change !== undefined || events[0]?.type !== "run.created") return change
  const started = events.find(({ type }) => type === "run.started")
  return started && { to: "running", at: started.ts, error: undefined }
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
