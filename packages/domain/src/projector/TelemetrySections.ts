import type { EventData, EventOf, KnownEvent, UnknownEvent } from "../events/CanonicalEvent.ts"
import { outboundChangeOf } from "../events/OutboundMessage.ts"
import { appendCapped, boundName, boundPayload, boundProse, replaceAt } from "../values/Bounds.ts"
import {
  type LlmCall,
  MAX_LINKED_ARTIFACTS,
  MAX_LLM_CALLS,
  MAX_PROGRESS_ENTRIES,
  MAX_SIGNALS,
  MAX_TIMELINE_RECENT,
  type RunState,
  type SignalEntry
} from "./RunState.ts"
import { addUsage } from "./UsageSums.ts"

/** The sections that only collect observations: signals, progress, timeline, trace, outbound messages, llm. */

/** Folds `signals`: an acknowledgement is filled into the entry it matches, the first one only. */
export const foldSignals = (section: RunState["signals"], event: KnownEvent): RunState["signals"] => {
  switch (event.type) {
    case "signal.emitted":
      return { signals: appendCapped(section.signals, signalOf(event), MAX_SIGNALS) }
    case "signal.acknowledged": {
      const { sender } = event.data
      const signalId = boundName(event.data.signalId)
      const at = section.signals.findLastIndex(({ id }) => id === signalId)
      const entry = section.signals[at]
      if (entry === undefined || entry.acknowledgedAt !== undefined) return section
      const acknowledgedBy = sender === "" ? {} : { acknowledgedBy: boundName(sender) }
      return { signals: replaceAt(section.signals, at, { ...entry, acknowledgedAt: event.ts, ...acknowledgedBy }) }
    }
    default:
      return section
  }
}

const signalOf = ({ data, subject, ts }: EventOf<"signal.emitted">): SignalEntry => {
  const { confidence, messageType, payload, sender, severity, signalType } = data
  return {
    id: boundName(subject?.id ?? ""),
    name: boundName(signalType ?? messageType),
    ...(severity !== undefined && { severity: boundName(severity) }),
    ...(sender !== "" && { sourceParticipantId: boundName(sender) }),
    ...(confidence !== undefined && { confidence }),
    payload: boundPayload(payload),
    ts
  }
}
export const foldProgress = (section: RunState["progress"], event: KnownEvent): RunState["progress"] => {
  if (event.type !== "progress.reported") return section
  const { message, percentage, sender } = event.data
  const entry = {
    participantId: boundName(sender),
    ...(percentage !== undefined && { percentage }),
    message: boundProse(message),
    ts: event.ts
  }
  return { entries: appendCapped(section.entries, entry, MAX_PROGRESS_ENTRIES) }
}

/** Folds `timeline`: every event counts, the last ones are listed. */
export const foldTimeline = (section: RunState["timeline"], event: KnownEvent): RunState["timeline"] => ({
  latestSeq: event.seq,
  latestIndex: event.index,
  totalEvents: section.totalEvents + 1,
  recent: appendCapped(
    section.recent,
    {
      id: event.id,
      seq: event.seq,
      ts: event.ts,
      type: event.type,
      ...(event.subject !== undefined && { subject: { ...event.subject, id: boundName(event.subject.id) } })
    },
    MAX_TIMELINE_RECENT
  )
})

/** An event of an unknown type counts; the list is of types that its readers know. */
export const countUnknown = (section: RunState["timeline"], event: UnknownEvent): RunState["timeline"] => ({
  ...section,
  latestSeq: event.seq,
  latestIndex: event.index,
  totalEvents: section.totalEvents + 1
})
export const foldTrace = (section: RunState["trace"], event: KnownEvent): RunState["trace"] => {
  const traceId = event.trace?.traceId
  const spanId = event.trace?.spanId
  const artifactId = event.type === "artifact.created" ? boundName(event.data.artifactId) : ""
  const isNewArtifact = artifactId !== "" && !section.linkedArtifacts.includes(artifactId)
  if (traceId === undefined && spanId === undefined && !isNewArtifact) return section
  const { lastSpanId, linkedArtifacts, spanCount, traceId: previous } = section
  const lastTraceId = traceId ?? previous
  const span = spanId ?? lastSpanId
  return {
    ...(lastTraceId !== undefined && { traceId: boundName(lastTraceId) }),
    spanCount: spanId === undefined ? spanCount : spanCount + 1,
    ...(span !== undefined && { lastSpanId: boundName(span) }),
    linkedArtifacts: isNewArtifact ? appendCapped(linkedArtifacts, artifactId, MAX_LINKED_ARTIFACTS) : linkedArtifacts
  }
}

/** Folds `outboundMessages`: the counts of what `GET /runs/:id/messages` lists. */
export const foldOutbound = (
  section: RunState["outboundMessages"],
  event: KnownEvent
): RunState["outboundMessages"] => {
  const change = outboundChangeOf(event)
  if (change === undefined) return section
  const { replacesRejected, status } = change
  return {
    total: section.total + (replacesRejected ? 0 : 1),
    queued: section.queued,
    accepted: section.accepted + (status === "accepted" ? 1 : 0),
    rejected: section.rejected + (status === "rejected" ? 1 : 0) - (replacesRejected ? 1 : 0)
  }
}

/** Folds `llm`: the last calls, and totals over all of them. */
export const foldLlm = (section: RunState["llm"], event: KnownEvent): RunState["llm"] => {
  if (event.type !== "llm.call.completed") return section
  // A span that repeats a call stands for none.
  if (event.data.calls === 0) return section
  const { totals } = section
  return {
    calls: appendCapped(section.calls, llmCallOf(event.data, event.ts), MAX_LLM_CALLS),
    totals: { callCount: totals.callCount + event.data.calls, ...addUsage(totals, event.data) }
  }
}

const llmCallOf = (data: EventData<"llm.call.completed">, ts: string): LlmCall => {
  const { artifactId, completionTokens, estimatedCostUsd, latencyMs, messageId, model, promptTokens, sender } = data
  return {
    participantId: boundName(sender),
    ...(model !== undefined && { model: boundName(model) }),
    promptTokens,
    completionTokens,
    totalTokens: data.totalTokens,
    ...(data.usage === "missing" && { usage: data.usage }),
    ...(latencyMs !== undefined && { latencyMs }),
    ts,
    ...(messageId !== "" && { messageId: boundName(messageId) }),
    ...(artifactId !== undefined && { artifactId: boundName(artifactId) }),
    ...(estimatedCostUsd !== undefined && { estimatedCostUsd }),
    ...(data.uncountedCostUsd !== undefined && { uncountedCostUsd: data.uncountedCostUsd }),
    ...(data.provider !== undefined && { provider: boundName(data.provider) }),
    ...(data.cachedTokens !== undefined && { cachedTokens: data.cachedTokens }),
    ...(data.cacheWriteTokens !== undefined && { cacheWriteTokens: data.cacheWriteTokens }),
    ...(data.reasoningTokens !== undefined && { reasoningTokens: data.reasoningTokens }),
    ...(data.costBasis !== undefined && { costBasis: boundName(data.costBasis) }),
    ...(data.priceKey !== undefined && { priceKey: boundName(data.priceKey) }),
    ...(data.costDoubt !== undefined && { costDoubt: boundName(data.costDoubt) })
  }
}
