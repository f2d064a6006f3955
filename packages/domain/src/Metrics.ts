import type { CanonicalEvent } from "./events/CanonicalEvent.ts"
import type { RunId } from "./Ids.ts"
import type { RunMetrics } from "./RunMetrics.ts"
import { addUsage, noUsage } from "./UsageSums.ts"

/** The counters of a run without events: every number is there and is 0. */
export const emptyRunMetrics = (runId: RunId): RunMetrics => ({
  runId,
  eventCount: 0,
  messageCount: 0,
  signalCount: 0,
  proposalCount: 0,
  toolCallCount: 0,
  decisionCount: 0,
  streamReconnectCount: 0,
  ...noUsage
})

/**
 * Counts one event. Tokens are counted from llm.call.completed alone, of which each call has one. When the run has
 * ended, further events are counted but no longer move `lastEventAt` and `durationMs`.
 */
export const measure = (metrics: RunMetrics, event: CanonicalEvent): RunMetrics => {
  const next = { ...metrics, eventCount: metrics.eventCount + 1, ...clockOf(metrics, event) }
  switch (event.type) {
    case "message.sent":
    case "message.received":
    case "message.send_failed":
      return { ...next, messageCount: metrics.messageCount + 1 }
    case "proposal.created":
    case "proposal.updated":
      return { ...next, proposalCount: metrics.proposalCount + 1 }
    case "tool.called":
    case "tool.completed":
      return { ...next, toolCallCount: metrics.toolCallCount + 1 }
    case "signal.emitted":
      return { ...next, signalCount: metrics.signalCount + 1 }
    case "decision.finalized":
    case "decision.proposed":
      return { ...next, decisionCount: metrics.decisionCount + 1 }
    case "session.stream.opened":
      return event.data.status === "reconnecting"
        ? { ...next, streamReconnectCount: metrics.streamReconnectCount + 1 }
        : next
    case "session.state.changed": {
      const sessionState = event.data.state
      return sessionState === undefined ? next : { ...next, sessionState }
    }
    case "llm.call.completed":
      return { ...next, ...addUsage(metrics, event.data) }
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      return { ...next, endedAt: metrics.endedAt ?? event.ts }
    default:
      return next
  }
}

const clockOf = (metrics: RunMetrics, { ts }: CanonicalEvent) => {
  // The events of one frame bear one time.
  if (metrics.endedAt !== undefined || metrics.lastEventAt === ts) return {}
  const firstEventAt = metrics.firstEventAt ?? ts
  const durationMs = Date.parse(ts) - Date.parse(firstEventAt)
  return {
    firstEventAt,
    lastEventAt: ts,
    ...(Number.isFinite(durationMs) && { durationMs: Math.max(durationMs, 0) })
  }
}
