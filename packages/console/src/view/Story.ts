import {
  booleanAt,
  type CanonicalEvent,
  type EventData,
  type EventOf,
  eventTime,
  isJsonObject,
  type KnownEvent,
  lastTextOf,
  sumUsd,
  textAt
} from "@runplane/domain"
import { isFromTelemetry } from "./Spans.ts"
import type { Tone } from "./Status.ts"

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
  readonly kind:
    | "opening"
    | "proposal"
    | "opinion"
    | "objection"
    | "vote"
    | "answer"
    | "commitment"
    | "denial"
    | "work"
    | "run"
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
  /** The earlier stance of the participant, when it changed. */
  readonly changedFrom: string | undefined
  readonly spent: Spent | undefined
  /** Whether OpenTelemetry reported it for a session whose agents speak the protocol. */
  readonly isJoined: boolean
}

type Contribution = EventData<"proposal.created" | "proposal.updated">

interface Phrase {
  readonly kind: StoryItem["kind"]
  readonly verb: string
  readonly tone?: Tone
  readonly object?: string | undefined
  readonly words?: string | undefined
}

const POSITIVE = new Set(["APPROVE", "ACCEPT", "ALLOW", "YES", "GO"])
const NEGATIVE = new Set(["REJECT", "DENY", "BLOCK", "NO", "DECLINE"])

/** How a vote or a recommendation counts to a reader. */
export const toneOfWord = (word: string | undefined): Tone => {
  const upper = (word ?? "").toUpperCase()
  return POSITIVE.has(upper) ? "good" : NEGATIVE.has(upper) ? "bad" : "calm"
}

const plainly =
  (kind: StoryItem["kind"], verb: string, tone: Tone = "calm") =>
  ({ reason }: Contribution): Phrase => ({ kind, verb, tone, words: reason })

const percentOf = (progress: number | undefined) =>
  progress === undefined ? "" : ` (${Math.round(progress <= 1 ? progress * 100 : progress)} %)`

/** By message type, which means the same in every mode that has it. */
const phrases: ReadonlyMap<string, (said: Contribution) => Phrase> = new Map<string, (said: Contribution) => Phrase>([
  [
    "Proposal",
    ({ action, proposalId, rationale, summary, title }) => ({
      kind: "proposal",
      verb: "proposes",
      tone: "accent",
      object: action ?? title ?? proposalId,
      words: rationale ?? summary
    })
  ],
  [
    "CounterProposal",
    ({ action, summary, title }) => ({
      kind: "proposal",
      verb: "proposes instead",
      tone: "accent",
      object: action ?? title,
      words: summary
    })
  ],
  [
    "Evaluation",
    ({ reason, recommendation }) => ({
      kind: "opinion",
      verb: "recommends",
      tone: toneOfWord(recommendation),
      object: recommendation ?? "nothing",
      words: reason
    })
  ],
  [
    "Objection",
    ({ reason, severity }) => ({
      kind: "objection",
      verb: severity === undefined ? "objects" : `objects (${severity})`,
      tone: "bad",
      words: reason
    })
  ],
  [
    "Vote",
    ({ reason, vote }) => ({
      kind: "vote",
      verb: "votes",
      tone: toneOfWord(vote),
      object: vote ?? "an unknown value",
      words: reason
    })
  ],
  ["Accept", plainly("answer", "accepts the offer", "good")],
  [
    "Reject",
    ({ reason, terminal }) => ({
      kind: "answer",
      verb: terminal === true ? "rejects the offer finally" : "rejects the offer",
      tone: "bad",
      words: reason
    })
  ],
  ["Withdraw", plainly("answer", "withdraws the offer", "warn")],
  [
    "ApprovalRequest",
    ({ action, requiredApprovals, summary }) => ({
      kind: "proposal",
      verb: requiredApprovals === undefined ? "requests approval of" : `requests ${requiredApprovals} approvals of`,
      tone: "accent",
      object: action,
      words: summary
    })
  ],
  ["Approve", plainly("vote", "approves", "good")],
  ["Abstain", plainly("vote", "abstains")],
  [
    "TaskRequest",
    ({ task, title }) => ({
      kind: "proposal",
      verb:
        task?.requestedAssignee === undefined ? "requests a task" : `requests a task from ${task.requestedAssignee}`,
      tone: "accent",
      object: title,
      words: task?.instructions
    })
  ],
  ["TaskAccept", plainly("answer", "accepts the task", "good")],
  ["TaskReject", plainly("answer", "declines the task", "bad")],
  [
    "TaskUpdate",
    ({ task }) => ({
      kind: "answer",
      verb: `works on the task${percentOf(task?.progress)}`,
      words: task?.message ?? task?.status
    })
  ],
  ["TaskComplete", ({ summary }) => ({ kind: "answer", verb: "completes the task", tone: "good", words: summary })],
  [
    "TaskFail",
    ({ reason, task }) => ({
      kind: "answer",
      verb: task?.errorCode === undefined ? "fails the task" : `fails the task (${task.errorCode})`,
      tone: "bad",
      words: reason
    })
  ],
  [
    "HandoffOffer",
    ({ handoff, reason }) => ({
      kind: "proposal",
      verb: `offers ${handoff?.targetParticipant ?? "a participant"} the handoff`,
      tone: "accent",
      object: handoff?.scope,
      words: reason
    })
  ],
  ["HandoffContext", plainly("answer", "sends context")],
  [
    "HandoffAccept",
    ({ implicit, reason }) => ({
      kind: "answer",
      verb: implicit === true ? "accepts the handoff by time-out" : "accepts the handoff",
      tone: implicit === true ? "warn" : "good",
      words: reason
    })
  ],
  ["HandoffDecline", plainly("answer", "declines the handoff", "bad")]
])

const phraseOf = (said: Contribution): Phrase =>
  phrases.get(said.messageType)?.(said) ?? { kind: "answer", verb: `sends ${said.messageType}`, words: said.reason }

/** The stance of a contribution, to detect that a participant changed its mind. */
const stanceOf = ({ action, messageType, recommendation, vote }: Contribution): string =>
  vote ?? recommendation ?? action ?? messageType

interface StoryBuilder {
  /** Whether the run consists of received telemetry. */
  readonly isIngested: boolean
  readonly items: Array<StoryItem>
  readonly spent: Map<string, Spent>
  readonly stances: Map<string, string>
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
  const story: StoryBuilder = { isIngested, items: [], spent: new Map(), stances: new Map() }
  for (const event of events) if (event.type !== "unknown") addEvent(story, event)
  return story.items
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
      const { errorMessage, reasons, sender } = event.data
      const words = errorMessage ?? (reasons.length === 0 ? undefined : reasons.join("; "))
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
          verb: isOk ? "answers" : "fails",
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
  story.items.push(
    item(event, {
      kind: "work",
      who: event.data.sender,
      verb: isOk ? "uses" : "fails to use",
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
