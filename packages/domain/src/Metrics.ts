import type { CanonicalEvent } from "./CanonicalEvent.ts"
import type { RunId } from "./Ids.ts"
import { numberAt, objectAt, textAt } from "./JsonReader.ts"
import type { JsonObject } from "./PayloadDecoder.ts"
import type { RunMetrics } from "./RunMetrics.ts"

/** The counters of a run without events: every number is there and is 0 (http-details section 4.10). */
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
 * Counts one event (http-details section 4.10). Tokens are counted from llm.call.completed alone, of which an envelope has one
 * at most. When the run has ended, further events are counted but no longer move `lastEventAt` and `durationMs`.
 */
export const measure = (metrics: RunMetrics, event: CanonicalEvent): RunMetrics => {
  const { data, ts, type } = event
  const next = { ...metrics, eventCount: metrics.eventCount + 1, ...clockOf(metrics, event) }
  switch (type) {
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
      return data["status"] === "reconnecting"
        ? { ...next, streamReconnectCount: metrics.streamReconnectCount + 1 }
        : next
    case "session.state.changed": {
      const sessionState = textAt(data, "state")
      return sessionState === undefined ? next : { ...next, sessionState }
    }
    case "llm.call.completed":
      return { ...next, ...tokensOf(metrics, objectAt(data, "decodedPayload") ?? {}) }
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      return { ...next, endedAt: metrics.endedAt ?? ts }
    default:
      return next
  }
}

const clockOf = (metrics: RunMetrics, { ts }: CanonicalEvent) => {
  if (metrics.endedAt !== undefined) return {}
  const firstEventAt = metrics.firstEventAt ?? ts
  const durationMs = Date.parse(ts) - Date.parse(firstEventAt)
  return {
    firstEventAt,
    lastEventAt: ts,
    ...(Number.isFinite(durationMs) && { durationMs: Math.max(durationMs, 0) })
  }
}

const tokensOf = (metrics: RunMetrics, usage: JsonObject) => {
  const promptTokens = numberAt(usage, "promptTokens") ?? 0
  const completionTokens = numberAt(usage, "completionTokens") ?? 0
  return {
    promptTokens: metrics.promptTokens + promptTokens,
    completionTokens: metrics.completionTokens + completionTokens,
    totalTokens: metrics.totalTokens + (numberAt(usage, "totalTokens") ?? promptTokens + completionTokens),
    estimatedCostUsd: metrics.estimatedCostUsd + (numberAt(usage, "estimatedCostUsd") ?? 0)
  }
}
