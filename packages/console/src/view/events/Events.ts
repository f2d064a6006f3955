import { type CanonicalEvent, denialText } from "@runplane/domain"
import { cut, dollars } from "../format/Format.ts"
import type { Tone } from "../format/Status.ts"
import { toneOfWord } from "../run/StoryPhrases.ts"

/** Which events of a run are listed. */
export interface EventFilter {
  /** Every one of these words is somewhere in the event; case does not count. */
  readonly words: string
  /** Only these types; all when there is none. */
  readonly types: ReadonlyArray<string>
  readonly without: ReadonlyArray<string>
}

/** The text of an event for the search, made once. */
const texts = new WeakMap<object, string>()

const textOf = (event: CanonicalEvent): string => {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = JSON.stringify(event.recorded).toLowerCase()
  texts.set(event, text)
  return text
}

export const filterEvents = (
  events: ReadonlyArray<CanonicalEvent>,
  { types, without, words }: EventFilter
): ReadonlyArray<CanonicalEvent> => {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const only = new Set(types)
  const out = new Set(without)
  if (wanted.length === 0 && only.size === 0 && out.size === 0) return events
  return events.filter((event) => {
    const { type } = event.recorded
    if ((only.size > 0 && !only.has(type)) || out.has(type)) return false
    return wanted.length === 0 || wanted.every((word) => textOf(event).includes(word))
  })
}

/** How many events there are of each type, the most frequent first. */
export const countTypes = (events: ReadonlyArray<CanonicalEvent>): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map<string, number>()
  for (const { recorded } of events) counts.set(recorded.type, (counts.get(recorded.type) ?? 0) + 1)
  return [...counts].toSorted(([one, few], [other, many]) => many - few || one.localeCompare(other))
}

/** The participant of an event; empty for the service itself. */
export const whoOf = (event: CanonicalEvent): string => {
  if (event.type === "unknown") return ""
  if ("sender" in event.data && event.data.sender !== "") return event.data.sender
  return event.subject?.kind === "participant" ? event.subject.id : ""
}

export const eventTone = (event: CanonicalEvent): Tone => {
  switch (event.type) {
    case "run.failed":
    case "message.send_failed":
    case "policy.denied":
      return "bad"
    case "run.suspended":
    case "run.cancelled":
      return "warn"
    case "run.corrected":
      return event.data.status === "failed" ? "bad" : "good"
    case "run.completed":
    case "decision.finalized":
      return "good"
    case "proposal.created":
    case "session.bound":
      return "accent"
    case "proposal.updated":
      return event.data.messageType === "Objection" ? "bad" : toneOfWord(event.data.vote ?? event.data.recommendation)
    default:
      return "calm"
  }
}

const GIST = 240

/** The summary of an event on one line. */
export const gistOf = (event: CanonicalEvent): string => cut(gist(event).replace(/\s+/g, " "), GIST)

const join = (...parts: ReadonlyArray<string | number | undefined>): string =>
  parts.filter((part) => part !== undefined && part !== "").join(" · ")

const gist = (event: CanonicalEvent): string => {
  switch (event.type) {
    case "message.received":
      return event.data.messageType
    case "message.sent":
      return event.data.ok ? "accepted by the runtime" : join(event.data.errorCode, event.data.errorMessage)
    case "message.send_failed":
      return join(event.data.errorCode, event.data.errorMessage)
    case "proposal.created":
    case "proposal.updated": {
      const { action, messageType, rationale, reason, recommendation, summary, title, vote } = event.data
      return join(messageType, vote ?? recommendation ?? action ?? title, reason ?? rationale ?? summary)
    }
    case "decision.finalized":
      return join(event.data.action, event.data.reason)
    case "llm.call.completed": {
      const { completionTokens, costBasis, estimatedCostUsd, model, promptTokens, totalTokens, usage } = event.data
      const cost =
        estimatedCostUsd === undefined
          ? undefined
          : `${costBasis === "fallback" ? "≈ " : ""}${dollars(estimatedCostUsd)}`
      const parts = `${promptTokens} + ${completionTokens}`
      const tokens = promptTokens + completionTokens === totalTokens ? parts : `${totalTokens} (${parts})`
      return join(model, usage === "missing" ? "usage missing" : `${tokens} tokens`, cost)
    }
    case "progress.reported":
      return join(event.data.percentage === undefined ? undefined : `${event.data.percentage} %`, event.data.message)
    case "policy.commitment.evaluated":
      return join(event.data.decision, event.data.reasons.join("; "))
    case "policy.denied":
      return event.data.denials.length > 0
        ? join(...event.data.denials.map(denialText))
        : join(event.data.errorCode, event.data.errorMessage ?? event.data.reasons.join("; "))
    case "policy.resolved":
      return join(event.data.policyVersion, event.data.description)
    case "session.state.changed":
      return join(event.data.state)
    case "run.failed":
      return join(event.data.errorCode, event.data.error)
    case "run.corrected":
      return join(event.data.status, event.data.errorCode, event.data.error)
    case "run.cancelled":
    case "run.suspended":
    case "run.resumed":
      return event.data.reason ?? ""
    case "signal.emitted":
      return join(event.data.signalType, event.data.severity)
    default:
      return event.subject === undefined ? "" : event.subject.id
  }
}
