import type * as Schema from "effect/Schema"
import { textAt } from "../values/JsonReader.ts"
import type { CanonicalEvent } from "./CanonicalEvent.ts"

/** What the times of a run are read from: its record. Times are ISO-8601. */
export interface TimedRun {
  readonly createdAt: string
  readonly startedAt?: string | undefined
  readonly endedAt?: string | undefined
  readonly metadata: Schema.JsonObject
}

/** The times of the span that an event comes from, ISO-8601 (docs/reference/ingest.md#from-spans-to-events). */
export interface SpanTimes {
  readonly startedAt: string
  readonly endedAt: string
}

/** The times of the span behind an event; undefined for an event without a span. */
export const spanTimes = ({ recorded: { data } }: Pick<CanonicalEvent, "recorded">): SpanTimes | undefined => {
  const startedAt = textAt(data, "startedAt")
  // The record of a run has another end than its spans where their clock is wrong.
  const endedAt = textAt(data, "spansEndedAt", "endedAt")
  return startedAt === undefined || endedAt === undefined ? undefined : { startedAt, endedAt }
}

/** Messages that are sent when their span starts; all others, when it ends. */
const SENT_AT_START: ReadonlySet<string> = new Set(["AgentInvoked", "Handoff", "ToolCall"])

/**
 * When an event happened, ISO-8601: at the start or the end of its span where it has one, else when it was received.
 * `ts` of an event with a span is the time of its arrival.
 */
export const eventTime = (event: Pick<CanonicalEvent, "recorded" | "ts" | "type">): string => {
  const times = spanTimes(event)
  if (times === undefined) return event.ts
  const isStart =
    event.type === "participant.seen" || SENT_AT_START.has(textAt(event.recorded.data, "messageType") ?? "")
  return isStart ? times.startedAt : times.endedAt
}

/** Events of calls, which count at the time of the call. */
const CALLS: ReadonlySet<string> = new Set(["llm.call.completed", "tool.called"])

/**
 * The time at which an event counts for a period, Unix milliseconds (docs/reference/alerts.md#late). A call counts at
 * its own time, and everything else at its arrival. So does a call that states a later time than its arrival, or one
 * that is `keptMs` older: a clock is wrong there, and its cost must not evade a budget.
 */
export const countedAt = (event: Pick<CanonicalEvent, "recorded" | "ts" | "type">, keptMs: number): number => {
  const arrived = Date.parse(event.ts)
  if (!CALLS.has(event.type)) return arrived
  const at = Date.parse(textAt(event.recorded.data, "sentAt") ?? eventTime(event))
  return at <= arrived && at > arrived - keptMs ? at : arrived
}

/** A discovery precedes its run by the grace and by an outage of the database. A greater difference is ignored. */
const LONGEST_DISCOVERY_MS = 60_000

/** When the service first received something of the session, where that is before the run; Unix milliseconds. */
const discoveredBefore = ({ createdAt, metadata }: TimedRun): number | undefined => {
  const created = Date.parse(createdAt)
  const discovered = Date.parse(textAt(metadata, "discoveredAt") ?? "")
  return discovered <= created && created - discovered <= LONGEST_DISCOVERY_MS ? discovered : undefined
}

/** Whether the session was open before the service created its run (docs/internals/runtime.md#discovery). */
export const isDiscoveredRun = (run: TimedRun): boolean => discoveredBefore(run) !== undefined

/** Start of the first span of an ingested run, Unix milliseconds (docs/reference/ingest.md#life). */
const firstSpan = ({ metadata }: TimedRun): number | undefined => {
  const at = Date.parse(textAt(metadata, "firstSpanAt") ?? "")
  return Number.isNaN(at) ? undefined : at
}

/**
 * The zero of a run's narrative, Unix milliseconds: the creation of the run. The narrative of a discovered session
 * begins with its discovery, after which its first frames arrive (docs/internals/runtime.md#discovery), and that of an
 * ingested run with its first span.
 */
export const narrativeBegin = (run: TimedRun): number =>
  firstSpan(run) ?? discoveredBefore(run) ?? Date.parse(run.createdAt)

/**
 * Milliseconds from the zero of a narrative to a time of it, never negative: a frame may be received before its run is
 * created.
 */
export const narrativeTime = (begin: number, ts: string): number => Math.max(0, Date.parse(ts) - begin)

/**
 * The times of a narrative as milliseconds from its zero. A discovered session was open at the zero, so that is the
 * time of `session.bound`, which is recorded with the run. So is the creation of an ingested run, which follows its
 * spans.
 */
export const narrativeClock = (
  run: TimedRun
): ((event: Pick<CanonicalEvent, "recorded" | "ts" | "type">) => number) => {
  const begin = narrativeBegin(run)
  const opening = firstSpan(run) !== undefined ? "run.created" : isDiscoveredRun(run) ? "session.bound" : undefined
  return (event) => (event.type === opening ? 0 : narrativeTime(begin, eventTime(event)))
}

/**
 * The zero of the times that a page shows beside the duration, Unix milliseconds: as `narrativeBegin`, but a posted run
 * begins with its start, so that no time of it exceeds the duration.
 */
export const shownBegin = (run: TimedRun): number =>
  firstSpan(run) ?? discoveredBefore(run) ?? Date.parse(run.startedAt ?? run.createdAt)

/**
 * How long a run has taken, or takes until `now` (Unix milliseconds): from its start, or from the discovery of its
 * session, in milliseconds; undefined while it is not started, and when `now` is absent while it has not ended.
 */
export const runDuration = (run: TimedRun, now?: number): number | undefined => {
  const { endedAt, startedAt } = run
  const end = endedAt === undefined ? now : Date.parse(endedAt)
  if (startedAt === undefined || end === undefined) return undefined
  return Math.max(0, end - (discoveredBefore(run) ?? Date.parse(startedAt)))
}
