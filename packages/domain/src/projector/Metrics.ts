import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { OTLP_RUNTIME_KIND } from "../events/MessageHeader.ts"
import { spanTimes } from "../events/RunTimes.ts"
import type { RunId } from "../values/Ids.ts"
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
 * ended, further events are counted but no longer move `lastEventAt` and `durationMs`. Times of a run from
 * OpenTelemetry are those of its spans (docs/reference/ingest.md#life).
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
    case "run.corrected": {
      const { endedAt, startedAt } = event.data
      const durationMs =
        startedAt === undefined || endedAt === undefined ? undefined : millisBetween(startedAt, endedAt)
      return { ...next, ...(durationMs !== undefined && { durationMs }) }
    }
    default:
      return next
  }
}

type Clock = Partial<Pick<RunMetrics, "durationMs" | "firstEventAt" | "lastEventAt" | "firstSpanAt" | "lastSpanAt">>

const clockOf = (metrics: RunMetrics, event: CanonicalEvent): Clock => {
  const { ts } = event
  if (metrics.endedAt !== undefined) return {}
  const spans = spanClock(metrics, event)
  // The events of one frame bear one time.
  if (metrics.lastEventAt === ts) return spans ?? {}
  const firstEventAt = metrics.firstEventAt ?? ts
  const durationMs = millisBetween(firstEventAt, ts)
  return { firstEventAt, lastEventAt: ts, ...(spans ?? (durationMs !== undefined && { durationMs })) }
}

/** Milliseconds, never negative; undefined where a text is not a time. */
const millisBetween = (from: string, to: string): number | undefined => {
  const millis = Date.parse(to) - Date.parse(from)
  return Number.isFinite(millis) ? Math.max(millis, 0) : undefined
}

/** The start of a run differs so much from that of its spans only where their clock is wrong. Milliseconds. */
const LARGEST_SKEW_MS = 86_400_000

/**
 * The times of a run from OpenTelemetry, whose events arrive long after what they record. The event of the end has the
 * times of the run. Undefined for every other run.
 */
const spanClock = (metrics: RunMetrics, event: CanonicalEvent): Clock | undefined => {
  if (event.type === "run.started" && event.data.runtimeKind === OTLP_RUNTIME_KIND) {
    return { firstSpanAt: event.data.startedAt ?? event.ts, durationMs: 0 }
  }
  const { durationMs = 0, firstSpanAt, lastSpanAt } = metrics
  // No other run states its start at its end.
  if ((event.type === "run.completed" || event.type === "run.failed") && event.data.startedAt !== undefined) {
    return { durationMs: millisBetween(event.data.startedAt, event.data.endedAt ?? event.ts) ?? durationMs }
  }
  if (firstSpanAt === undefined) return undefined
  const times = spanTimes(event)
  if (times === undefined) return { durationMs }
  const [from, to] = [Date.parse(times.startedAt), Date.parse(times.endedAt)]
  if (Number.isNaN(from) || Number.isNaN(to)) return { durationMs }
  const known = Date.parse(firstSpanAt)
  const isKnown = lastSpanAt !== undefined || Math.abs(known - from) <= LARGEST_SKEW_MS
  const first = isKnown && known <= from ? firstSpanAt : times.startedAt
  const last = lastSpanAt !== undefined && Date.parse(lastSpanAt) >= to ? lastSpanAt : times.endedAt
  return { firstSpanAt: first, lastSpanAt: last, durationMs: millisBetween(first, last) ?? durationMs }
}
