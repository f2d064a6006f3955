import { type CanonicalEvent, sentenceOf, sentenceText } from "@runplane/domain"
import { cut, dollars } from "../format/Format.ts"
import type { Tone } from "../format/Status.ts"

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

/** Ids of the message that an event comes from. */
const messageOf = ({ recorded: { data } }: CanonicalEvent): string | undefined => {
  const id = data["messageId"]
  return typeof id === "string" && id !== "" ? id : undefined
}

/**
 * The events without each `message.received` whose message another event of the list states: one row a message. With
 * that type chosen all of them are listed.
 */
export const withoutEchoes = (
  events: ReadonlyArray<CanonicalEvent>,
  types: ReadonlyArray<string> = []
): ReadonlyArray<CanonicalEvent> => {
  if (types.includes("message.received")) return events
  const stated = new Set<string>()
  for (const event of events) {
    if (event.type === "message.received") continue
    const id = messageOf(event)
    if (id !== undefined) stated.add(id)
  }
  if (stated.size === 0) return events
  return events.filter((event) => event.type !== "message.received" || !stated.has(messageOf(event) ?? ""))
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
  if (event.type === "session.bound") return event.data.initiator ?? ""
  if ("sender" in event.data && event.data.sender !== "") return event.data.sender
  return event.subject?.kind === "participant" ? event.subject.id : ""
}

export const eventTone = (event: CanonicalEvent): Tone =>
  sentenceOf(event)?.tone ?? (event.type === "message.send_failed" ? "bad" : "calm")

const GIST = 240

/** The summary of an event on one line: its sentence behind its participant, else what the event states. */
export const gistOf = (event: CanonicalEvent): string => cut(gist(event).replace(/\s+/g, " "), GIST)

const join = (...parts: ReadonlyArray<string | number | undefined>): string =>
  parts.filter((part) => part !== undefined && part !== "").join(" · ")

const gist = (event: CanonicalEvent): string => {
  const sentence = sentenceOf(event)
  if (sentence === undefined) return factsOf(event)
  const { by, who } = sentence
  const text = sentenceText(sentence, (words = "") => (words === "" ? "" : `: ${words}`))
  return join(by === "run" || by === "policy" ? `${who} ${text}` : text, costOf(event))
}

const costOf = (event: CanonicalEvent): string | undefined => {
  if (event.type !== "llm.call.completed" || event.data.estimatedCostUsd === undefined) return undefined
  const { costBasis, estimatedCostUsd } = event.data
  return `${costBasis === "fallback" ? "≈ " : ""}${dollars(estimatedCostUsd)}`
}

/** An id that says nothing to a reader. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** What an event without a sentence states. */
const factsOf = (event: CanonicalEvent): string => {
  switch (event.type) {
    case "message.received":
      return event.data.messageType
    case "participant.seen":
      return "takes part"
    case "run.started":
      return "the run has started"
    case "session.stream.opened":
      return event.data.status === "gap" ? "the stream of the session begins after a gap" : "the session is followed"
    case "message.sent":
      return event.data.ok ? "accepted by the runtime" : join(event.data.errorCode, event.data.errorMessage)
    case "message.send_failed":
      return join(event.data.errorCode, event.data.errorMessage)
    case "progress.reported":
      return join(event.data.percentage === undefined ? undefined : `${event.data.percentage} %`, event.data.message)
    case "policy.commitment.evaluated":
      return join(event.data.decision, event.data.reasons.join("; "))
    case "policy.resolved":
      return join(event.data.policyVersion, event.data.description)
    case "session.state.changed":
      return join(event.data.state)
    case "signal.emitted":
      return join(event.data.signalType, event.data.severity)
    default:
      return event.subject === undefined || UUID.test(event.subject.id) ? "" : event.subject.id
  }
}
