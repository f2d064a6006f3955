import {
  aboutText,
  booleanAt,
  type CanonicalEvent,
  denialText,
  type EventOf,
  eventTime,
  isJsonObject,
  type KnownEvent,
  lastTextOf,
  noSubjects,
  type Subjects,
  subjectName,
  sumUsd,
  textAt,
  withSubject
} from "@runplane/domain"
import type { Tone } from "../format/Status.ts"
import { isFromTelemetry } from "./Spans.ts"
import { phraseOf, type StoryKind, stanceOf } from "./StoryPhrases.ts"

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

/** One item of the story of a run. */
export interface StoryItem {
  /** Index of the event that says it. */
  readonly index: number
  /** When it happened, ISO-8601: by its span where it has one. */
  readonly at: string
  /** Who did it; empty for the service and the runtime. */
  readonly who: string
  readonly kind: StoryKind
  readonly tone: Tone
  /** The verb of the sentence that begins with `who`. */
  readonly verb: string
  /** The object of the sentence: an option, an action. */
  readonly object: string | undefined
  /** In its sender's own words. */
  readonly words: string | undefined
  /** 0 to 1. */
  readonly confidence: number | undefined
  readonly proposalId: string | undefined
  /** The subject of an answer with its preposition, "on go", where the run has several. */
  readonly about: string | undefined
  /** The earlier stance of the participant, when it changed. */
  readonly changedFrom: string | undefined
  readonly spent: Spent | undefined
  /** Whether OpenTelemetry reported it for a session whose agents speak the protocol. */
  readonly isJoined: boolean
}

interface StoryBuilder {
  /** Whether the run consists of received telemetry. */
  readonly isIngested: boolean
  readonly items: Array<StoryItem>
  readonly spent: Map<string, Spent>
  readonly stances: Map<string, string>
  subjects: Subjects
}

const item = (event: CanonicalEvent, over: Partial<StoryItem> & Pick<StoryItem, "kind" | "verb">): StoryItem => ({
  index: event.index,
  at: eventTime(event),
  who: "",
  tone: "calm",
  object: undefined,
  words: undefined,
  confidence: undefined,
  proposalId: undefined,
  about: undefined,
  changedFrom: undefined,
  spent: undefined,
  isJoined: false,
  ...over
})

/**
 * A run as a story: the question, the messages of the participants, and the end. Every item is one event; signals,
 * progress and acknowledgements are left out. Of received telemetry it has the work that agents give each other, and
 * the tools. `isIngested` says whether the whole run was received; otherwise its telemetry is marked, also model calls.
 * Pure and total: unknown events are skipped.
 */
export const storyOf = (events: Iterable<CanonicalEvent>, isIngested = false): ReadonlyArray<StoryItem> => {
  const story = emptyStory(isIngested)
  addEvents(story, events)
  return story.items
}

/**
 * The same for a list that grows: a list that begins with the events of the one before costs only its new events. A
 * list of other events is read from its begin.
 */
export const growingStory = () => {
  let story = emptyStory(false)
  let before: ReadonlyArray<CanonicalEvent> = []
  return (events: ReadonlyArray<CanonicalEvent>, isIngested: boolean): ReadonlyArray<StoryItem> => {
    const grows =
      isIngested === story.isIngested &&
      (before.length === 0 || (events[0] === before[0] && events[before.length - 1] === before.at(-1)))
    if (!grows) {
      story = emptyStory(isIngested)
      before = []
    }
    addEvents(story, events.slice(before.length))
    before = events
    return [...story.items]
  }
}

const emptyStory = (isIngested: boolean): StoryBuilder => ({
  isIngested,
  items: [],
  spent: new Map(),
  stances: new Map(),
  subjects: noSubjects
})

const addEvents = (story: StoryBuilder, events: Iterable<CanonicalEvent>): void => {
  for (const event of events) if (event.type !== "unknown") addEvent(story, event)
}

/** The number of items of a story up to an event. A story only grows, so they are the story up to that event. */
export const storyLength = (items: ReadonlyArray<StoryItem>, index: number): number => {
  // The first item after it, by halves.
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle]?.index ?? 0) <= index) low = middle + 1
    else high = middle
  }
  return low
}

const addEvent = (story: StoryBuilder, event: KnownEvent): void => {
  switch (event.type) {
    case "message.received": {
      const { messageType, payload, sender } = event.data
      if (isFromTelemetry(event)) addWork(story, event)
      if (messageType !== "SessionStart") return
      const intent = payload["intent"]
      const words = typeof intent === "string" && intent !== "" ? intent : undefined
      story.items.push(item(event, { kind: "opening", who: sender, verb: "opens the session", tone: "accent", words }))
      return
    }
    case "proposal.created":
    case "proposal.updated":
      addContribution(story, event)
      return
    case "tool.completed":
      if (isFromTelemetry(event)) addTool(story, event)
      return
    case "llm.call.completed": {
      if (isFromTelemetry(event) && !story.isIngested) addJoinedCall(story, event)
      if (event.data.calls === 0) return
      const { calls, costBasis, estimatedCostUsd = 0, model, sender, totalTokens, usage } = event.data
      const before = story.spent.get(sender)
      story.spent.set(sender, {
        calls: (before?.calls ?? 0) + calls,
        tokens: (before?.tokens ?? 0) + totalTokens,
        costUsd: sumUsd([before?.costUsd ?? 0, estimatedCostUsd]),
        guessedCostUsd: sumUsd([before?.guessedCostUsd ?? 0, costBasis === "fallback" ? estimatedCostUsd : 0]),
        callsWithoutUsage: (before?.callsWithoutUsage ?? 0) + (usage === "missing" ? calls : 0),
        models: [...new Set([...(before?.models ?? []), ...(model === undefined ? [] : [model])])]
      })
      return
    }
    case "decision.finalized": {
      const { action, confidence, outcomePositive, proposalId, reason, reasons, sender } = event.data
      story.items.push(
        item(event, {
          kind: "commitment",
          who: sender,
          verb: "commits",
          tone: outcomePositive === true ? "good" : outcomePositive === false ? "bad" : "calm",
          object: action,
          words: reason ?? reasons[0],
          confidence,
          proposalId,
          spent: spentBy(story, sender)
        })
      )
      return
    }
    case "policy.denied": {
      const { denials, errorMessage, reasons, sender } = event.data
      const said = denials.length > 0 ? denials.map(denialText) : reasons
      const words = denials.length > 0 || errorMessage === undefined ? said.join("; ") || undefined : errorMessage
      story.items.push(
        item(event, {
          kind: "denial",
          verb: `The policy refuses a message of ${sender || "an agent"}`,
          tone: "bad",
          words
        })
      )
      return
    }
    case "run.suspended":
      story.items.push(
        item(event, { kind: "run", verb: "The run is suspended", tone: "warn", words: event.data.reason })
      )
      return
    case "run.resumed":
      story.items.push(
        item(event, { kind: "run", verb: "The run is resumed", tone: "accent", words: event.data.reason })
      )
      return
    case "run.completed":
      story.items.push(item(event, { kind: "run", verb: "The run is completed", tone: "good" }))
      return
    case "run.failed": {
      const { error, errorCode } = event.data
      story.items.push(
        item(event, { kind: "run", verb: "The run fails", tone: "bad", object: errorCode, words: error })
      )
      return
    }
    case "run.corrected": {
      const { error, errorCode, status = "completed" } = event.data
      const tone = status === "failed" ? "bad" : "good"
      const verb = `The root came: the run ${status === "failed" ? "failed" : "completed"}`
      story.items.push(item(event, { kind: "run", verb, tone, object: errorCode, words: error }))
      return
    }
    case "run.cancelled":
      story.items.push(
        item(event, { kind: "run", verb: "The run is cancelled", tone: "warn", words: event.data.reason })
      )
      return
    default:
  }
}

/** An agent receives work, answers, or makes a handoff. */
const addWork = (story: StoryBuilder, event: EventOf<"message.received">): void => {
  const { messageType, payload, sender, to } = event.data
  const target = to[0]
  switch (messageType) {
    case "AgentInvoked":
      story.items.push(
        item(event, {
          kind: "opening",
          who: sender,
          verb: "invokes",
          tone: "accent",
          object: target,
          words: lastTextOf(payload["input"])
        })
      )
      return
    case "AgentAnswered": {
      const isOk = booleanAt(event.recorded.data, "ok") !== false
      story.items.push(
        item(event, {
          kind: "answer",
          who: sender,
          verb: isOk ? "answers" : "fails to answer",
          tone: isOk ? "calm" : "bad",
          object: target,
          words: isOk ? lastTextOf(payload["output"]) : errorOf(event),
          spent: spentBy(story, sender)
        })
      )
      return
    }
    case "Handoff":
      story.items.push(item(event, { kind: "work", who: sender, verb: "makes a handoff to", object: target }))
  }
}

const addTool = (story: StoryBuilder, event: EventOf<"tool.completed">): void => {
  const isOk = booleanAt(event.recorded.data, "ok") !== false
  const isRefused = booleanAt(event.recorded.data, "refused") === true
  story.items.push(
    item(event, {
      kind: "work",
      who: event.data.sender,
      verb: isRefused ? "is refused the use of" : isOk ? "uses" : "fails to use",
      tone: isOk ? "calm" : "bad",
      object: textAt(event.data.payload, "name") ?? "a tool",
      words: isOk ? undefined : errorOf(event),
      isJoined: !story.isIngested
    })
  )
}

const addJoinedCall = (story: StoryBuilder, event: EventOf<"llm.call.completed">): void => {
  const { calls, model, sender } = event.data
  const words = calls === 0 ? "Its tokens are not counted here: the agents may report them." : undefined
  story.items.push(
    item(event, { kind: "work", who: sender, verb: "calls", object: model ?? "a model", words, isJoined: true })
  )
}

/** The error of an event, in the words of the application. */
const errorOf = ({ recorded }: KnownEvent): string | undefined => {
  const { error } = recorded.data
  return isJsonObject(error) ? (textAt(error, "message") ?? textAt(error, "type")) : undefined
}

const addContribution = (
  story: StoryBuilder,
  event: Extract<KnownEvent, { type: "proposal.created" | "proposal.updated" }>
) => {
  const said = event.data
  story.subjects = withSubject(story.subjects, event)
  const subjectOf = subjectName(story.subjects, event)
  const { kind, object, tone = "calm", verb, words } = phraseOf(said)
  const proposalId = said.proposalId === "" ? undefined : said.proposalId
  const subject = JSON.stringify([said.sender, said.proposalId, kind])
  const stance = stanceOf(said)
  const before = story.stances.get(subject)
  story.stances.set(subject, stance)
  const changedFrom = (kind === "vote" || kind === "opinion") && before !== stance ? before : undefined
  story.items.push(
    item(event, {
      kind,
      who: said.sender,
      verb,
      tone,
      object,
      words,
      confidence: said.confidence,
      proposalId,
      about: subjectOf === undefined ? undefined : aboutText(said.messageType, subjectOf),
      changedFrom,
      spent: spentBy(story, said.sender)
    })
  )
}

/** Spending since the participant's last message; counted once. */
const spentBy = ({ spent }: StoryBuilder, who: string): Spent | undefined => {
  const found = spent.get(who)
  spent.delete(who)
  return found
}
