import { isTerminal, type KnownEvent, outboundCategoryOf, outboundChangeOf, type RunState } from "@runplane/domain"
import type { Reactor, WrittenAppend } from "../../event-log/append/Reactors.ts"
import type { Metrics } from "../../platform/metrics/Metrics.ts"

/** Counts the committed events: every append once, in the process that wrote it. */
export const countAppends = (metrics: (typeof Metrics)["Service"]): Reactor => ({
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
