import type { Run, TraceSpan } from "@runplane/api"
import {
  booleanAt,
  type CanonicalEvent,
  type EventOf,
  isJsonObject,
  type KnownEvent,
  lacksUsage,
  shownBegin,
  spanTimes,
  sumUsd,
  textAt
} from "@runplane/domain"
import { hasRuntime } from "./RunFacts.ts"

/** What calls of language models used and cost. */
export interface SpanSums {
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number
  readonly guessedCostUsd: number
  readonly callsWithoutUsage: number
}

/** A span of a run: received as OpenTelemetry, carried by events, or made of events that carry none. */
export interface RunSpan {
  /** Unique in the run. */
  readonly id: string
  readonly parentId: string | undefined
  /** Of the trace; undefined for a span that is made of events. */
  readonly spanId: string | undefined
  readonly name: string
  /** `run`, `participant`, `agent`, `model`, `tool` and others. */
  readonly kind: string
  /** Participant; empty when unknown. */
  readonly who: string
  /** Unix milliseconds. */
  readonly start: number
  readonly end: number
  /** Why it failed; empty when it gave no reason, undefined when it did not fail. */
  readonly error: string | undefined
  /** Index of its first event. */
  readonly index: number | undefined
  readonly events: number
  /** What its own calls used. */
  readonly own: SpanSums
  /** Whether it was received as OpenTelemetry. */
  readonly isReceived: boolean
  /** Why its tokens do not count, where they do not. */
  readonly uncounted: string | undefined
}

type Draft = { -readonly [Name in keyof RunSpan]: RunSpan[Name] }

const NO_SUMS: SpanSums = { calls: 0, tokens: 0, costUsd: 0, guessedCostUsd: 0, callsWithoutUsage: 0 }

const RUN_ID = "run"

interface SpansOf {
  readonly run: Pick<Run, "runtimeKind" | "createdAt" | "startedAt" | "endedAt" | "metadata">
  readonly events: ReadonlyArray<CanonicalEvent>
  /** As the service received them; empty for runs without OpenTelemetry. */
  readonly received: ReadonlyArray<TraceSpan>
  /** Whether events after these are left out, and with them the received spans of which no event is left. */
  readonly isPast: boolean
}

/**
 * All spans of a run. A run that was ingested consists of the received spans. The spans of other runs are the run, its
 * participants, and their calls; spans that their events carry, or that were received for the session, are below them.
 */
export const spansOf = ({ events, isPast, received, run }: SpansOf): ReadonlyArray<RunSpan> => {
  const spans = new Map<string, Draft>()
  for (const span of received) spans.set(keyOf(span.traceId, span.spanId), draftOf(span))
  const own = hasRuntime(run) ? new OwnSpans(run) : undefined
  const spanOfRun = spanOfService(events)
  for (const event of events) {
    if (event.type === "unknown") continue
    const { trace } = event
    if (trace?.spanId === undefined || trace.spanId === spanOfRun) own?.add(event)
    else addEvent(spans, keyOf(trace.traceId, trace.spanId), event)
  }
  const found = isPast ? known(spans) : [...spans.values()]
  return own === undefined ? found : [...own.around(found), ...found]
}

/** The span of the run itself: events without a span of their own carry it. */
const spanOfService = (events: ReadonlyArray<CanonicalEvent>): string | undefined =>
  events.find(({ source, trace }) => source?.kind === "control-plane" && trace?.spanId !== undefined)?.trace?.spanId

/** Whether an event comes from received telemetry. */
export const isFromTelemetry = ({ source }: CanonicalEvent): boolean => source?.name === "otlp"

const keyOf = (traceId: string | undefined, spanId: string): string => `${traceId ?? ""}/${spanId}`

const draftOf = (span: TraceSpan): Draft => {
  const { agent = "", durationMs, errorCode, errorMessage, kind, ok, parentSpanId, spanId, startedAtUnixMs } = span
  return {
    id: keyOf(span.traceId, spanId),
    parentId: parentSpanId === undefined ? undefined : keyOf(span.traceId, parentSpanId),
    spanId,
    name: span.name,
    kind,
    who: agent,
    start: startedAtUnixMs,
    end: startedAtUnixMs + durationMs,
    error: ok ? undefined : [errorCode, errorMessage].filter((text) => text !== undefined).join(": "),
    index: undefined,
    events: 0,
    own: NO_SUMS,
    isReceived: true,
    uncounted: undefined
  }
}

/** Adds what an event says about its span. */
const addEvent = (spans: Map<string, Draft>, id: string, event: KnownEvent): void => {
  const before = spans.get(id)
  const draft = before ?? spanOfEvent(id, event)
  if (before === undefined) spans.set(id, draft)
  else if (!draft.isReceived) {
    const { end, start } = timesOf(event)
    draft.start = Math.min(draft.start, start)
    draft.end = Math.max(draft.end, end)
  }
  draft.index ??= event.index
  draft.events += 1
  if (draft.who === "") draft.who = whoOf(event)
  draft.error ??= errorOf(event)
  if (event.type === "llm.call.completed") addCall(draft, event)
}

const spanOfEvent = (id: string, event: KnownEvent): Draft => {
  const { parentSpanId, spanId, traceId } = event.trace ?? {}
  const { end, start } = timesOf(event)
  return {
    ...partOf(event),
    id,
    parentId: parentSpanId === undefined ? undefined : keyOf(traceId, parentSpanId),
    spanId,
    who: whoOf(event),
    start,
    end,
    error: undefined,
    index: event.index,
    events: 0,
    own: NO_SUMS,
    isReceived: spanTimes(event) !== undefined,
    uncounted: undefined
  }
}

/** The times of the span of an event; a call of a model ends with its report. */
const timesOf = (event: KnownEvent): { readonly start: number; readonly end: number } => {
  const times = spanTimes(event)
  if (times !== undefined) return { start: Date.parse(times.startedAt), end: Date.parse(times.endedAt) }
  const at = Date.parse(event.ts)
  return { start: event.type === "llm.call.completed" ? at - (event.data.latencyMs ?? 0) : at, end: at }
}

const partOf = (event: KnownEvent): Pick<Draft, "name" | "kind"> => {
  switch (event.type) {
    case "llm.call.completed":
      return { kind: "model", name: event.data.model ?? "model call" }
    case "tool.called":
    case "tool.completed":
      return { kind: "tool", name: textAt(event.data.payload, "name", "toolName", "tool_name", "tool") ?? "tool call" }
    default:
      return { kind: "message", name: textAt(event.recorded.data, "messageType") ?? event.type }
  }
}

/** The participant of a span: the agent that is invoked, else the sender. */
const whoOf = (event: KnownEvent): string => {
  if (event.type === "message.received" && event.data.messageType === "AgentInvoked") return event.data.to[0] ?? ""
  return "sender" in event.data ? event.data.sender : ""
}

const errorOf = ({ recorded: { data } }: KnownEvent): string | undefined => {
  const { error } = data
  if (isJsonObject(error)) return [textAt(error, "type"), textAt(error, "message")].filter(Boolean).join(": ")
  return booleanAt(data, "ok") === false ? "" : undefined
}

const addCall = (draft: Draft, { data, recorded }: EventOf<"llm.call.completed">): void => {
  const { calls, costBasis, estimatedCostUsd = 0, totalTokens } = data
  const { own } = draft
  draft.own = {
    calls: own.calls + calls,
    tokens: own.tokens + totalTokens,
    costUsd: sumUsd([own.costUsd, estimatedCostUsd]),
    guessedCostUsd: sumUsd([own.guessedCostUsd, costBasis === "fallback" ? estimatedCostUsd : 0]),
    callsWithoutUsage: own.callsWithoutUsage + (lacksUsage(data) ? calls : 0)
  }
  draft.uncounted ??= textAt(recorded.data, "countedReason")
}

/** The spans that have an event, and those around them. */
const known = (spans: ReadonlyMap<string, Draft>): ReadonlyArray<Draft> => {
  const kept = new Set<Draft>()
  for (const span of spans.values()) {
    if (span.events === 0) continue
    for (let at: Draft | undefined = span; at !== undefined && !kept.has(at); ) {
      kept.add(at)
      at = at.parentId === undefined ? undefined : spans.get(at.parentId)
    }
  }
  return [...kept]
}

/** The spans of a run whose agents speak the protocol: the run, its participants, and calls that carry no span. */
class OwnSpans {
  readonly #run: Draft
  readonly #isEnded: boolean
  readonly #participants = new Map<string, Draft>()
  readonly #calls: Array<Draft> = []
  readonly #tools = new Map<string, Draft>()

  constructor(run: SpansOf["run"]) {
    const start = shownBegin(run)
    const { endedAt } = run
    this.#isEnded = endedAt !== undefined
    const end = endedAt === undefined ? start : Math.max(start, Date.parse(endedAt))
    this.#run = { ...made(RUN_ID, undefined, "run", ""), name: "Run", start, end }
  }

  add(event: KnownEvent): void {
    const { end } = timesOf(event)
    const who = whoOf(event)
    if (!this.#isEnded) this.#run.end = Math.max(this.#run.end, end)
    this.#run.index ??= event.index
    this.#run.events += 1
    if (event.type === "run.failed") this.#run.error = event.data.errorCode ?? ""
    if (event.type === "run.corrected")
      this.#run.error = event.data.status === "failed" ? (event.data.errorCode ?? "") : undefined
    if (who === "") return
    const participant = this.#participant(who, event)
    this.#widen(participant, this.#callOf(event) ?? timesOf(event))
  }

  /** These spans, with the others below the participant that sent them, or below the run. */
  around(others: ReadonlyArray<Draft>): ReadonlyArray<Draft> {
    const ids = new Set(others.map(({ id }) => id))
    for (const span of others) {
      if (span.parentId !== undefined && (span.isReceived || ids.has(span.parentId))) continue
      const participant = span.isReceived ? undefined : this.#participants.get(span.who)
      span.parentId = participant?.id ?? RUN_ID
      if (participant !== undefined) this.#widen(participant, span)
    }
    return [this.#run, ...this.#participants.values(), ...this.#calls]
  }

  #participant(who: string, event: KnownEvent): Draft {
    const before = this.#participants.get(who)
    if (before !== undefined) {
      before.events += 1
      return before
    }
    const { end, start } = timesOf(event)
    const draft = { ...made(`participant ${who}`, RUN_ID, "participant", who), name: who, start, end, events: 1 }
    draft.index = event.index
    this.#participants.set(who, draft)
    return draft
  }

  #call(event: KnownEvent): Draft {
    const who = whoOf(event)
    const { end, start } = timesOf(event)
    const draft = {
      ...made(`call ${event.index}`, `participant ${who}`, "", who),
      ...partOf(event),
      start,
      end,
      index: event.index,
      events: 1
    }
    this.#calls.push(draft)
    return draft
  }

  /** The call that an event begins or ends; undefined for other events. */
  #callOf(event: KnownEvent): Draft | undefined {
    switch (event.type) {
      case "llm.call.completed": {
        const call = this.#call(event)
        addCall(call, event)
        return call
      }
      case "tool.called": {
        const call = this.#call(event)
        this.#tools.set(event.data.toolCallId, call)
        return call
      }
      case "tool.completed": {
        const call = this.#tools.get(event.data.toolCallId) ?? this.#call(event)
        this.#tools.delete(event.data.toolCallId)
        call.end = Math.max(call.end, timesOf(event).end)
        call.error ??= errorOf(event)
        return call
      }
      default:
        return undefined
    }
  }

  #widen(draft: Draft, { end, start }: { readonly start: number; readonly end: number }): void {
    draft.start = Math.min(draft.start, start)
    draft.end = Math.max(draft.end, end)
  }
}

const made = (id: string, parentId: string | undefined, kind: string, who: string): Draft => ({
  id,
  parentId,
  spanId: undefined,
  name: "",
  kind,
  who,
  start: 0,
  end: 0,
  error: undefined,
  index: undefined,
  events: 0,
  own: NO_SUMS,
  isReceived: false,
  uncounted: undefined
})
