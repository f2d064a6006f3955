import type { WebhookEvent } from "@runplane/api"
import { type CanonicalEvent, chatBody, type KnownEvent, questionMessage, type RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { AppliedChange, Reactor, WrittenAppend } from "../../event-log/append/Reactors.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { LauncherAddress } from "./WebhookSettings.ts"

/**
 * Enqueues the notifications of the changes of status, and of questions to people, and wakes their delivery when they
 * are committed (docs/reference/webhooks.md#webhook-delivery).
 */
export const makeWebhookOutbox = Effect.gen(function* () {
  const { enqueue, wake } = yield* Outbox
  const launcherUrl = yield* LauncherAddress

  const noticesOf = ({ runId, ...append }: WrittenAppend) => [
    ...reportsOf(append).map(({ change, event }) => ({
      runId,
      event,
      at: change.at,
      payload: payloadOf(event, runId, change)
    })),
    ...itemNotices(runId, append.events, launcherUrl)
  ]
  const inTransaction = (appends: ReadonlyArray<WrittenAppend>) => {
    const notices = appends.flatMap(noticesOf)
    return notices.length === 0 ? [] : [enqueue(notices)]
  }
  const afterCommit = (appends: ReadonlyArray<WrittenAppend>) => {
    if (appends.some((append) => reportsOf(append).length > 0 || append.events.some(isOfItem))) wake()
  }
  const reactor: Reactor = { inTransaction, afterCommit }
  return reactor
})

const isOfItem = (event: KnownEvent): boolean => event.type === "artifact.created" && event.data.item !== undefined

/**
 * An event of a question, as JSON and as messages of chats. It has no text of the proposal; the link gives no right, a
 * person signs in.
 */
export const itemNotices = (runId: string, events: ReadonlyArray<KnownEvent>, launcherUrl: string | undefined) =>
  events.flatMap((artifact) => {
    const item = artifact.type === "artifact.created" ? artifact.data.item : undefined
    if (item === undefined) return []
    const event: WebhookEvent = `item.${item.event}`
    const link = launcherUrl === undefined ? undefined : `${launcherUrl}/inbox/${encodeURIComponent(item.item)}`
    const { deadline, hash, item: id, person, reach, scenario, seat, state, step, to, unanswered } = item
    const data = {
      item: id,
      seat,
      ...(scenario !== undefined && { scenario }),
      state,
      unanswered,
      hash,
      ...(deadline !== undefined && { deadline }),
      ...(person !== undefined && { person }),
      ...(step !== undefined && { step }),
      ...(to !== undefined && { to }),
      ...(reach !== undefined && { reach }),
      ...(link !== undefined && { link })
    }
    const notice = { runId, event, at: artifact.ts }
    const message = questionMessage(item, link)
    return [
      { ...notice, payload: JSON.stringify({ event, runId, timestamp: artifact.ts, data }) },
      { ...notice, format: "slack" as const, payload: JSON.stringify(chatBody("slack", message)) },
      { ...notice, format: "teams" as const, payload: JSON.stringify(chatBody("teams", message)) }
    ]
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
