import { numberAt, textAt } from "../JsonReader.ts"
import {
  type LlmCall,
  MAX_LINKED_ARTIFACTS,
  MAX_LLM_CALLS,
  MAX_PROGRESS_ENTRIES,
  MAX_SIGNALS,
  MAX_TIMELINE_RECENT,
  type ProgressEntry,
  type RunState,
  type SignalEntry
} from "../RunState.ts"
import { appendCapped, replaceAt } from "./Capped.ts"
import type { EventView } from "./EventView.ts"

/** The sections that only collect what was observed: signals, progress, timeline, trace, outbound messages, llm. */

/** Folds `signals` (run-control-plane "Projection rules" 9): an acknowledgement is filled into the entry it matches. */
export const foldSignals = (section: RunState["signals"], view: EventView): RunState["signals"] => {
  switch (view.event.type) {
    case "signal.emitted":
      return { signals: appendCapped(section.signals, signalOf(view), MAX_SIGNALS) }
    case "signal.acknowledged": {
      const at = section.signals.findLastIndex(({ id }) => id === view.subjectId)
      const entry = section.signals[at]
      if (entry === undefined || entry.acknowledgedAt !== undefined) return section
      const acknowledgedBy = view.sender === "" ? {} : { acknowledgedBy: view.sender }
      return { signals: replaceAt(section.signals, at, { ...entry, acknowledgedAt: view.ts, ...acknowledgedBy }) }
    }
    default:
      return section
  }
}

const signalOf = ({ messageType, payload, sender, subjectId, ts }: EventView): SignalEntry => {
  const severity = textAt(payload, "severity")
  const confidence = numberAt(payload, "confidence")
  return {
    id: subjectId,
    name: textAt(payload, "signalType", "signal_type") ?? messageType,
    ...(severity !== undefined && { severity }),
    ...(sender !== "" && { sourceParticipantId: sender }),
    ...(confidence !== undefined && { confidence }),
    payload,
    ts
  }
}

/** Folds `progress`. */
export const foldProgress = (section: RunState["progress"], view: EventView): RunState["progress"] => {
  if (view.event.type !== "progress.reported") return section
  const percentage = numberAt(view.payload, "percentage")
  const entry: ProgressEntry = {
    participantId: view.sender,
    ...(percentage !== undefined && { percentage }),
    message: textAt(view.payload, "message") ?? "",
    ts: view.ts
  }
  return { entries: appendCapped(section.entries, entry, MAX_PROGRESS_ENTRIES) }
}

/** Folds `timeline`: every event counts, the last ones are listed. */
export const foldTimeline = (section: RunState["timeline"], { event }: EventView): RunState["timeline"] => ({
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
      ...(event.subject !== undefined && { subject: event.subject })
    },
    MAX_TIMELINE_RECENT
  )
})

/** Folds `trace`. */
export const foldTrace = (section: RunState["trace"], { data, event, subjectId }: EventView): RunState["trace"] => {
  const traceId = event.trace?.traceId
  const spanId = event.trace?.spanId
  const artifactId = event.type === "artifact.created" ? (textAt(data, "artifactId") ?? subjectId) : ""
  const isNewArtifact = artifactId !== "" && !section.linkedArtifacts.includes(artifactId)
  if (traceId === undefined && spanId === undefined && !isNewArtifact) return section
  const { lastSpanId, linkedArtifacts, spanCount, traceId: previous } = section
  const lastTraceId = traceId ?? previous
  const span = spanId ?? lastSpanId
  return {
    ...(lastTraceId !== undefined && { traceId: lastTraceId }),
    spanCount: spanId === undefined ? spanCount : spanCount + 1,
    ...(span !== undefined && { lastSpanId: span }),
    linkedArtifacts: isNewArtifact ? appendCapped(linkedArtifacts, artifactId, MAX_LINKED_ARTIFACTS) : linkedArtifacts
  }
}

/**
 * Folds `outboundMessages`: the counts of the captured messages (http-details section 4.10), that is every envelope with an
 * id, and every acknowledgement and failure (section 7).
 */
export const foldOutbound = (section: RunState["outboundMessages"], view: EventView): RunState["outboundMessages"] => {
  switch (view.event.type) {
    case "message.received":
      return textAt(view.data, "messageId") === undefined ? section : counted(section, true)
    case "message.sent":
      return counted(section, view.data["ok"] === true)
    case "message.send_failed":
      return counted(section, false)
    default:
      return section
  }
}

const counted = (section: RunState["outboundMessages"], isAccepted: boolean): RunState["outboundMessages"] => ({
  total: section.total + 1,
  queued: section.queued,
  accepted: section.accepted + (isAccepted ? 1 : 0),
  rejected: section.rejected + (isAccepted ? 0 : 1)
})

/** Folds `llm`: the last calls, and totals over all of them. */
export const foldLlm = (section: RunState["llm"], view: EventView): RunState["llm"] => {
  if (view.event.type !== "llm.call.completed") return section
  const call = llmCallOf(view)
  const { totals } = section
  return {
    calls: appendCapped(section.calls, call, MAX_LLM_CALLS),
    totals: {
      callCount: totals.callCount + 1,
      promptTokens: totals.promptTokens + call.promptTokens,
      completionTokens: totals.completionTokens + call.completionTokens,
      totalTokens: totals.totalTokens + call.totalTokens,
      estimatedCostUsd: totals.estimatedCostUsd + (call.estimatedCostUsd ?? 0)
    }
  }
}

const llmCallOf = ({ data, payload, sender, subjectId, ts }: EventView): LlmCall => {
  const promptTokens = numberAt(payload, "promptTokens") ?? 0
  const completionTokens = numberAt(payload, "completionTokens") ?? 0
  const model = textAt(payload, "model")
  const latencyMs = numberAt(payload, "latencyMs")
  const messageId = textAt(data, "messageId") ?? subjectId
  const artifactId = textAt(payload, "artifactId")
  const estimatedCostUsd = numberAt(payload, "estimatedCostUsd")
  return {
    participantId: sender,
    ...(model !== undefined && { model }),
    promptTokens,
    completionTokens,
    totalTokens: numberAt(payload, "totalTokens") ?? promptTokens + completionTokens,
    ...(latencyMs !== undefined && { latencyMs }),
    ts,
    ...(messageId !== "" && { messageId }),
    ...(artifactId !== undefined && { artifactId }),
    ...(estimatedCostUsd !== undefined && { estimatedCostUsd })
  }
}
