import * as Hash from "effect/Hash"
import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { OTLP_RUNTIME_KIND } from "../events/MessageHeader.ts"
import { spanTimes } from "../events/RunTimes.ts"
import { outcomeKey, type TrialOutcome } from "../gate/Trial.ts"
import { readAct } from "../insight/Act.ts"
import { ballotOf } from "../insight/Ballots.ts"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { isJsonArray, isJsonObject, objectAt, textAt } from "../values/JsonReader.ts"

/** What the evaluator of alerts keeps of a run between two events: plain JSON, bounded. Times are Unix milliseconds. */
export interface RunMemory {
  state: "waiting" | "running" | "suspended" | "ended"
  /** When it began to run, and when its last event was stored. */
  startedAt?: number
  lastAt?: number
  /** Of a run from OpenTelemetry: its start, and the end of its last span so far. */
  spans?: { from: number; to: number }
  /** Whether its end said that it failed. */
  hasFailed?: boolean
  /** When the pause began that is not over. */
  pausedAt?: number
  /** Sum of the pauses that are over. */
  pausedMs: number
  /** Last vote by participant and proposal, as JSON. */
  votes: Record<string, string>
  /** Last approval or rejection by participant. */
  words: Record<string, "APPROVE" | "REJECT">
  /** Last message by participant, its hash, and how often it came in a row. */
  streaks: Record<string, { id: string; hash: string; n: number }>
  decision?: TrialOutcome
  /** Whether the forecast once had no positive outcome. */
  isOutOfReach?: boolean
}

export const noMemory = (): RunMemory => ({ state: "waiting", pausedMs: 0, votes: {}, words: {}, streaks: {} })

/** Participants, and pairs of participant and proposal, of one run that are remembered; the first ones. */
const MAX_REMEMBERED = 1_000

/** The part of an event that depends on earlier events of its run. */
export interface EventFacts {
  /** Since the previous event, when the run was running in between. Milliseconds. */
  readonly silenceMs: number | undefined
  /** Since the start of the run, without pauses. Milliseconds. */
  readonly durationMs: number | undefined
  /** How often the sender has sent this in a row; 0 for an event that is not a message. */
  readonly streak: number
  readonly isMindChange: boolean
  /** Of the event that ends the run. */
  readonly end: EndFacts | undefined
  /** Whether the event says that a run failed whose end said that it completed. */
  readonly isFailedAfterAll: boolean
}

export interface EndFacts {
  readonly status: "completed" | "failed" | "cancelled"
  /** Its decision, `none` for a completed run without one, undefined for any other run without one. */
  readonly outcome: string | undefined
  readonly positive: boolean | null
  /** Participants whose last word was an approval or a rejection, and those of them that opposed the outcome. */
  readonly voters: number
  readonly opposed: number
}

/** Adds an event to the memory of its run. */
export const remember = (memory: RunMemory, event: CanonicalEvent): EventFacts => {
  const at = Date.parse(event.ts)
  const isOver = memory.state === "ended"
  const isFailedAfterAll = event.type === "run.corrected" && event.data.status === "failed" && memory.hasFailed !== true
  const silenceMs = memory.state === "running" ? Math.max(0, at - (memory.lastAt ?? at)) : undefined
  memory.lastAt = at
  const isMindChange = event.type === "proposal.updated" && vote(memory, event)
  if (event.type === "decision.finalized") {
    memory.decision = { action: event.data.action ?? "resolved", positive: event.data.outcomePositive }
  }
  const end = move(memory, event, at)
  followSpans(memory, event, at)
  // What arrives after the end does not make the run longer.
  const durationMs = isOver && event.type !== "run.corrected" ? undefined : durationOf(memory, at)
  return { silenceMs, durationMs, streak: streakOf(memory, event), isMindChange, end, isFailedAfterAll }
}

/** The start of a run differs so much from that of its spans only where their clock is wrong. Milliseconds. */
const LARGEST_SKEW_MS = 86_400_000

/**
 * A run from OpenTelemetry has run for as long as its spans say, and since they arrived. So its start is counted from
 * the arrival: a day that is sent again in a minute does not seem to run, nor one that ended long before it arrived.
 */
const followSpans = (memory: RunMemory, event: CanonicalEvent, at: number) => {
  if (event.type === "run.started" && event.data.runtimeKind === OTLP_RUNTIME_KIND) {
    const from = timeOf(event.data.startedAt) ?? at
    memory.spans = { from, to: from }
    return
  }
  const { spans } = memory
  if (spans === undefined) return
  if (event.type === "run.completed" || event.type === "run.failed" || event.type === "run.corrected") {
    const [from, to] = [timeOf(event.data.startedAt), timeOf(event.data.endedAt)]
    if (from !== undefined && to !== undefined) memory.startedAt = at - Math.max(0, to - from)
    return
  }
  const times = memory.state === "ended" ? undefined : spanTimes(event)
  const [from, to] = [timeOf(times?.startedAt), timeOf(times?.endedAt)]
  if (from === undefined || to === undefined) return
  const isSkewed = Math.abs(from - spans.from) > LARGEST_SKEW_MS
  memory.spans = isSkewed ? { from, to } : { from: Math.min(spans.from, from), to: Math.max(spans.to, to) }
  memory.startedAt = at - Math.max(0, memory.spans.to - memory.spans.from)
}

const timeOf = (text: string | undefined): number | undefined => {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** How long a run has run, without its pauses; undefined before its start. Milliseconds. */
export const durationOf = ({ pausedAt, pausedMs, startedAt }: RunMemory, at: number): number | undefined =>
  startedAt === undefined ? undefined : Math.max(0, (pausedAt ?? at) - startedAt - pausedMs)

/** Follows the state of the run. */
const move = (memory: RunMemory, event: CanonicalEvent, at: number): EndFacts | undefined => {
  switch (event.type) {
    case "run.started":
      memory.state = "running"
      memory.startedAt ??= at
      return undefined
    case "run.suspended":
      memory.state = "suspended"
      memory.pausedAt ??= at
      return undefined
    case "run.resumed":
      resume(memory, at)
      memory.state = "running"
      return undefined
    case "run.completed":
    case "run.failed":
    case "run.cancelled": {
      resume(memory, at)
      memory.state = "ended"
      if (event.type === "run.failed") memory.hasFailed = true
      const status = event.type === "run.completed" ? "completed" : event.type === "run.failed" ? "failed" : "cancelled"
      return endOf(memory, status)
    }
    case "run.corrected":
      memory.hasFailed = event.data.status === "failed"
      return undefined
    default:
      return undefined
  }
}

const resume = (memory: RunMemory, at: number) => {
  if (memory.pausedAt === undefined) return
  memory.pausedMs += at - memory.pausedAt
  delete memory.pausedAt
}

const endOf = ({ decision, words }: RunMemory, status: EndFacts["status"]): EndFacts => {
  const positive = decision?.positive ?? null
  const opposing = positive === true ? "REJECT" : "APPROVE"
  const last = positive === null ? [] : Object.values(words)
  const none = status === "completed" ? outcomeKey({ action: "none", positive: null }) : undefined
  return {
    status,
    outcome: decision === undefined ? none : outcomeKey(decision),
    positive,
    voters: last.length,
    opposed: last.filter((word) => word === opposing).length
  }
}

/** Remembers a vote; true when its participant had voted otherwise on the same proposal. */
const vote = (memory: RunMemory, event: Extract<CanonicalEvent, { readonly type: "proposal.updated" }>): boolean => {
  const act = readAct(event)
  const word = ballotOf(act)
  if (word === undefined) return false
  if (word === "ABSTAIN") delete memory.words[act.by]
  else keep(memory.words, act.by, word)
  const key = JSON.stringify([act.by, act.proposalId])
  const before = memory.votes[key]
  keep(memory.votes, key, word)
  return before !== undefined && before !== word
}

const keep = <A>(record: Record<string, A>, key: string, value: A) => {
  if (Object.hasOwn(record, key) || Object.keys(record).length < MAX_REMEMBERED) record[key] = value
}

const MESSAGES: ReadonlySet<string> = new Set(["message.received", "signal.emitted", "tool.called"])

/**
 * A message and the events that follow from it count once. Votes neither count nor end a row: a participant that
 * approves three proposals does not repeat itself.
 */
const streakOf = (memory: RunMemory, event: CanonicalEvent): number => {
  if (!MESSAGES.has(event.type)) return 0
  const { data } = event.recorded
  if (textAt(data, "messageType") === "Vote") return 0
  const sender = textAt(data, "sender") ?? ""
  if (sender === "") return 0
  const last = memory.streaks[sender]
  const id = textAt(data, "messageId") ?? event.id
  if (last?.id === id) return 0
  const text = `${textAt(data, "messageType") ?? event.type} ${canonicalJson(plain(objectAt(data, "decodedPayload") ?? {}))}`
  const hash = `${text.length}:${Hash.string(text)}`
  const n = last?.hash === hash ? last.n + 1 : 1
  keep(memory.streaks, sender, { id, hash, n })
  return n
}

/** Names of members that hold an id or a time. */
const CHANGING =
  /(?:^id|Id|_id|Ids|_ids|^at|At|_at|^ts|_ts|[tT]ime|[tT]imestamp|[tT]imestampUnixMs|UnixMs|_unix_ms|[nN]once)$/

type Json = Parameters<typeof canonicalJson>[0]

/** A payload without the members that differ between two messages of the same content. */
const plain = (value: Json): Json => {
  if (isJsonArray(value)) return value.map(plain)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (CHANGING.test(name) ? [] : [[name, plain(inner)]]))
  )
}
