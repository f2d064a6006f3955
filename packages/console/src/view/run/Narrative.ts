import {
  type CanonicalEvent,
  type EventData,
  eventTime,
  type KnownEvent,
  noSubjects,
  type Sentence,
  type SentenceKind,
  type Subjects,
  sentenceOf,
  subjectName,
  sumUsd,
  withSubject
} from "@runplane/domain"
import { isFromTelemetry } from "./Spans.ts"

/** Spending of a participant on language models before a message. */
export interface Spent {
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number
  /** Part of the cost that is a guess. */
  readonly guessedCostUsd: number
  /** Calls without counts, which tokens and cost lack. */
  readonly callsWithoutUsage: number
  readonly models: ReadonlyArray<string>
}

/** One item of the narrative of a run: the sentence of an event, and what the console shows beside it. */
export interface NarrativeItem extends Sentence {
  /** Index of the event that says it. */
  readonly index: number
  /** When it happened, ISO-8601: by its span where it has one. */
  readonly at: string
  /** The earlier stance of the participant, when it changed. */
  readonly changedFrom: string | undefined
  readonly spent: Spent | undefined
  /** Whether OpenTelemetry reported it for a session whose agents speak the protocol. */
  readonly isJoined: boolean
}

interface NarrativeBuilder {
  /** Whether the run consists of received telemetry. */
  readonly isIngested: boolean
  readonly items: Array<NarrativeItem>
  readonly spent: Map<string, Spent>
  readonly stances: Map<string, string>
  subjects: Subjects
}

/** How the console names who is not a participant, at the begin of a sentence. */
const SUBJECTS: Readonly<Record<Exclude<Sentence["by"], "participant">, string>> = {
  run: "The run",
  policy: "The policy",
  unknown: "An agent"
}

/** The begin of a sentence without a participant; undefined for a sentence of a participant, which has its avatar. */
export const subjectOf = ({ by }: Sentence): string | undefined => (by === "participant" ? undefined : SUBJECTS[by])

/**
 * A run as a narrative: the question, the messages of the participants, and the end. Every item is one event; signals,
 * progress and acknowledgements are left out. Of received telemetry it has the work that agents give each other, and
 * the tools. `isIngested` says whether the whole run was received; otherwise its telemetry is marked, also model calls.
 * Pure and total: unknown events are skipped.
 */
export const narrativeOf = (events: Iterable<CanonicalEvent>, isIngested = false): ReadonlyArray<NarrativeItem> => {
  const narrative = emptyNarrative(isIngested)
  addEvents(narrative, events)
  return narrative.items
}

/**
 * The same for a list that grows: a list that begins with the events of the one before costs only its new events. A
 * list of other events is read from its begin.
 */
export const growingNarrative = () => {
  let narrative = emptyNarrative(false)
  let before: ReadonlyArray<CanonicalEvent> = []
  return (events: ReadonlyArray<CanonicalEvent>, isIngested: boolean): ReadonlyArray<NarrativeItem> => {
    const grows =
      isIngested === narrative.isIngested &&
      (before.length === 0 || (events[0] === before[0] && events[before.length - 1] === before.at(-1)))
    if (!grows) {
      narrative = emptyNarrative(isIngested)
      before = []
    }
    addEvents(narrative, events.slice(before.length))
    before = events
    return [...narrative.items]
  }
}

const emptyNarrative = (isIngested: boolean): NarrativeBuilder => ({
  isIngested,
  items: [],
  spent: new Map(),
  stances: new Map(),
  subjects: noSubjects
})

const addEvents = (narrative: NarrativeBuilder, events: Iterable<CanonicalEvent>): void => {
  for (const event of events) if (event.type !== "unknown") addEvent(narrative, event)
}

/** The number of items of a narrative up to an event. A narrative only grows, so they are the one up to that event. */
export const narrativeLength = (items: ReadonlyArray<NarrativeItem>, index: number): number => {
  // The first item after it, by halves.
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle]?.index ?? 0) <= index) low = middle + 1
    else high = middle
  }
  return low
}

const addEvent = (narrative: NarrativeBuilder, event: KnownEvent): void => {
  narrative.subjects = withSubject(narrative.subjects, event)
  if (event.type === "llm.call.completed") addSpending(narrative, event.data)
  if (!isShown(event, narrative)) return
  const sentence = sentenceOf(event, subjectName(narrative.subjects, event))
  if (sentence === undefined || LEFT_OUT.has(sentence.kind)) return
  narrative.items.push({
    ...sentence,
    index: event.index,
    at: eventTime(event),
    changedFrom: changedFrom(narrative, event, sentence.kind),
    spent: MESSAGES.has(sentence.kind) && "sender" in event.data ? spentBy(narrative, event.data.sender) : undefined,
    isJoined: !narrative.isIngested && TOOLS_AND_MODELS.has(sentence.kind)
  })
}

/** Whether the narrative may have the event: tools and model calls only as far as telemetry reports them. */
const isShown = (event: KnownEvent, { isIngested }: NarrativeBuilder): boolean => {
  if (event.type === "tool.completed") return isFromTelemetry(event)
  return event.type !== "llm.call.completed" || (!isIngested && isFromTelemetry(event))
}

/** The page shows the session beside the narrative, and the events have the signals and the calls of tools. */
const LEFT_OUT: ReadonlySet<SentenceKind> = new Set<SentenceKind>(["session", "signal", "tool call"])

const TOOLS_AND_MODELS: ReadonlySet<SentenceKind> = new Set<SentenceKind>(["tool result", "model call"])

/** Messages, with what their senders spent before them. */
const MESSAGES: ReadonlySet<SentenceKind> = new Set<SentenceKind>([
  ...(["proposal", "opinion", "objection", "vote", "answer", "commitment"] as const)
])

/** The earlier stance of a participant whose vote or opinion is another one now. */
const changedFrom = (narrative: NarrativeBuilder, event: KnownEvent, kind: SentenceKind): string | undefined => {
  if (event.type !== "proposal.created" && event.type !== "proposal.updated") return undefined
  const { action, messageType, proposalId, recommendation, sender, vote } = event.data
  const subject = JSON.stringify([sender, proposalId, kind])
  const stance = vote ?? recommendation ?? action ?? messageType
  const before = narrative.stances.get(subject)
  narrative.stances.set(subject, stance)
  return (kind === "vote" || kind === "opinion") && before !== stance ? before : undefined
}

const addSpending = (narrative: NarrativeBuilder, data: EventData<"llm.call.completed">): void => {
  if (data.calls === 0) return
  const { calls, costBasis, estimatedCostUsd = 0, model, sender, totalTokens, usage } = data
  const before = narrative.spent.get(sender)
  narrative.spent.set(sender, {
    calls: (before?.calls ?? 0) + calls,
    tokens: (before?.tokens ?? 0) + totalTokens,
    costUsd: sumUsd([before?.costUsd ?? 0, estimatedCostUsd]),
    guessedCostUsd: sumUsd([before?.guessedCostUsd ?? 0, costBasis === "fallback" ? estimatedCostUsd : 0]),
    callsWithoutUsage: (before?.callsWithoutUsage ?? 0) + (usage === "missing" ? calls : 0),
    models: [...new Set([...(before?.models ?? []), ...(model === undefined ? [] : [model])])]
  })
}

/** Spending since the participant's last message; counted once. */
const spentBy = ({ spent }: NarrativeBuilder, who: string): Spent | undefined => {
  const found = spent.get(who)
  spent.delete(who)
  return found
}
