import type { CanonicalEvent, EventData } from "./events/CanonicalEvent.ts"
import type { RunId } from "./Ids.ts"
import { sumUsd } from "./Money.ts"
import type { RunMetrics } from "./RunMetrics.ts"

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
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  estimatedCostUsd: 0
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
      return { ...next, ...tokensOf(metrics, event.data) }
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

const tokensOf = (metrics: RunMetrics, usage: EventData<"llm.call.completed">) => ({
  ...guessedOf(metrics, usage),
  promptTokens: metrics.promptTokens + usage.promptTokens,
  completionTokens: metrics.completionTokens + usage.completionTokens,
  totalTokens: metrics.totalTokens + usage.totalTokens,
  estimatedCostUsd: sumUsd([metrics.estimatedCostUsd, usage.estimatedCostUsd ?? 0]),
  ...(usage.usage === "missing" && { callsWithoutUsage: (metrics.callsWithoutUsage ?? 0) + usage.calls })
})

const guessedOf = ({ guessedCostUsd = 0 }: RunMetrics, usage: EventData<"llm.call.completed">) => {
  const guessed =
    usage.costBasis === "fallback" ? sumUsd([guessedCostUsd, usage.estimatedCostUsd ?? 0]) : guessedCostUsd
  return guessed > 0 ? { guessedCostUsd: guessed } : {}
}
