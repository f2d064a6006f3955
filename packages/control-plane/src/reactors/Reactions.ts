import { isTerminal, type KnownEvent, outboundCategoryOf, outboundChangeOf, type RunState } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Reactor, Reactors, type WrittenAppend } from "../event-log/append/Reactors.ts"
import { RunTraces } from "../event-log/runs/RunTraces.ts"
import { Ids } from "../platform/Ids.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import { makeReceiptOutbox, PendingReceipts } from "./receipts/PendingReceipts.ts"
import { makeEventTallies } from "./tallies/EventTally.ts"
import { makeLateChanges, RunTallies } from "./tallies/RunTallies.ts"
import { makeRunSpans } from "./traces/RunSpans.ts"
import { DeliveryQueue, WebhookBacklog } from "./webhooks/DeliveryQueue.ts"
import { layerWebhookDispatcher } from "./webhooks/WebhookDispatcher.ts"
import { makeWebhookOutbox } from "./webhooks/WebhookOutbox.ts"
import { WebhookRepository } from "./webhooks/WebhookRepository.ts"
import { WebhookSettings } from "./webhooks/WebhookSettings.ts"
import { Webhooks } from "./webhooks/Webhooks.ts"
import { WebhookTransport } from "./webhooks/WebhookTransport.ts"

/** Counts the committed events: every append once, in the process that wrote it. */
const countAppends = (metrics: (typeof Metrics)["Service"]): Reactor => ({
  afterCommit: (appends) => {
    for (const append of appends) countAppend(metrics, append)
  }
})

const countAppend = (
  metrics: (typeof Metrics)["Service"],
  { requestedAt, change, events, frames, state }: WrittenAppend
) => {
  if (frames.length > 0) metrics.framesAt(requestedAt)
  for (const event of events) countEvent(metrics, event)
  if (change === undefined) return
  metrics.runTransition(change.to)
  if (isTerminal(change.to)) countEnd(metrics, change.to, state)
}

const countEvent = (metrics: (typeof Metrics)["Service"], event: KnownEvent) => {
  const outbound = outboundChangeOf(event)
  if (outbound !== undefined) {
    const messageType = event.type === "message.received" ? event.data.messageType : ""
    metrics.outboundMessage(outboundCategoryOf(messageType), outbound.status)
  }
  switch (event.type) {
    case "run.created":
      return metrics.runTransition("queued")
    case "message.received":
      return metrics.inboundMessage(event.data.modeName, event.data.messageType)
    case "signal.emitted":
      return metrics.signal(event.data.signalType ?? "")
    case "session.stream.opened":
      if (event.data.status === "reconnecting") metrics.streamReconnect()
      if (event.data.status === "gap") metrics.streamResumeGap()
      return
    default:
      return
  }
}

/** A run that was ended before it started has no duration. */
const countEnd = (
  metrics: (typeof Metrics)["Service"],
  status: string,
  { run: { endedAt, modeName, startedAt } }: RunState
) => {
  if (startedAt === undefined || endedAt === undefined) return
  const seconds = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) / 1000
  metrics.runEnded({ status, modeName: modeName ?? "", seconds })
}

/** Logs a line for each run that starts or ends, once, in the process that appended the event. */
const makeRunLog = Effect.gen(function* () {
  const log = Effect.runForkWith(yield* Effect.context())
  const logChange = ({ change, events, runId, state: { run } }: WrittenAppend) => {
    const about = { runId, sessionId: run.runtimeSessionId, traceId: run.traceId }
    if (events.some(({ type }) => type === "run.started")) {
      log(Effect.annotateLogs(Effect.logInfo("run started"), { ...about, mode: run.modeName }))
    }
    const correction = events.find((event) => event.type === "run.corrected")
    if (correction !== undefined) {
      const { error, status } = correction.data
      const fields = { ...about, status, ...(error !== undefined && { error }) }
      log(Effect.annotateLogs(Effect.logInfo(`run corrected: ${status}`), fields))
    }
    if (change === undefined || !isTerminal(change.to)) return
    const began = run.startedAt === undefined ? undefined : Date.parse(run.startedAt)
    const durationMs = began === undefined ? undefined : Math.max(0, Date.parse(run.endedAt ?? change.at) - began)
    log(
      Effect.annotateLogs(Effect.logInfo(`run ended: ${change.to}`), {
        ...about,
        status: change.to,
        ...(durationMs !== undefined && { durationMs }),
        ...(change.error !== undefined && { error: change.error })
      })
    )
  }
  return {
    afterCommit: (appends) => {
      for (const append of appends) logChange(append)
    }
  } satisfies Reactor
})

/** The webhooks and their worker. Needs the database, the audit log and the metrics. */
const webhooks = Webhooks.layer.pipe(
  Layer.merge(layerWebhookDispatcher),
  Layer.provide([Ids.layer, WebhookTransport.layer, DeliveryQueue.layer, WebhookRepository.layer]),
  Layer.provide(WebhookSettings.layer)
)

const reactors = Layer.effect(
  Reactors,
  Effect.gen(function* () {
    return [
      yield* makeEventTallies,
      yield* makeLateChanges,
      yield* makeWebhookOutbox,
      countAppends(yield* Metrics),
      yield* makeReceiptOutbox,
      yield* makeRunLog,
      yield* makeRunSpans
    ]
  })
)

/** The reactors to a commit. Provides the reactors to the log, and the webhooks to the handlers. */
export const layer = reactors.pipe(
  Layer.provide(RunTraces.layer),
  Layer.provideMerge(Layer.mergeAll(webhooks, RunTallies.layer, PendingReceipts.layer)),
  Layer.provideMerge(WebhookBacklog.layer)
)
