import { createHash } from "node:crypto"
import {
  type Arrival,
  bindingOf,
  type CanonicalEvent,
  type EventDraft,
  emptyRunState,
  type KnownEvent,
  project,
  type RunEnd,
  type RunFacts,
  RunId,
  type RunState,
  recordEvent,
  resumeTraceFold,
  specifiedPrices,
  stepTraceFold,
  type Telemetry,
  type TraceFold,
  type TraceFoldArtifact,
  type TraceFoldMark,
  type TraceFoldNode,
  type TraceFoldOptions
} from "@runplane/domain"

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

export const SETTLE_MS = 5_000
export const IDLE_MS = 180_000
export const PARENT_WAIT_MS = 900_000

export const RUN_ID = "6f0f7c1a-8f52-5d0e-9d5e-3f2a7c3b9a11"

export const OPTIONS: TraceFoldOptions = {
  runId: RUN_ID,
  sessionId: "key",
  settleMs: SETTLE_MS,
  idleMs: IDLE_MS,
  parentWaitMs: PARENT_WAIT_MS,
  maxSpans: 100_000,
  prices: specifiedPrices,
  sha256
}

/** The identity of a span or log record, as the door makes it. */
export const keyOf = (telemetry: Telemetry): string =>
  telemetry.kind === "span"
    ? `span:${telemetry.traceId}:${telemetry.spanId}`
    : `log:${telemetry.traceId}:${telemetry.spanId}:${sha256(JSON.stringify(telemetry))}`

/** Telemetry that arrives together. */
export interface Request {
  readonly at: number
  readonly telemetry: ReadonlyArray<Telemetry>
}

/** All that a fold wrote. */
export interface TraceFoldResult {
  readonly events: ReadonlyArray<KnownEvent>
  readonly state: RunState
  readonly artifacts: ReadonlyArray<TraceFoldArtifact>
  readonly marks: ReadonlyArray<TraceFoldMark>
  readonly facts: RunFacts
  readonly end: RunEnd | undefined
  readonly fold: TraceFold
  readonly nodes: ReadonlyArray<TraceFoldNode>
}

/**
 * The fold of requests, with a step after each of them and whenever one is due, until nothing is. `isKilled`
 * decides before each step whether the process starts anew from what is stored.
 */
export const runFold = (
  requests: ReadonlyArray<Request>,
  options: TraceFoldOptions = OPTIONS,
  isKilled: (step: number) => boolean = () => false
): TraceFoldResult => {
  let fold = resumeTraceFold({ nodes: [], isCreated: false, isEnded: false, isProvisional: false })
  let state = emptyRunState(options.runId)
  let facts: RunFacts = { tags: [], metadata: {}, models: [] }
  let end: RunEnd | undefined
  let steps = 0
  const spanInbox = new Map<string, Arrival>()
  const nodes = new Map<string, TraceFoldNode>()
  const events: Array<KnownEvent> = []
  const artifacts: Array<TraceFoldArtifact> = []
  const marks: Array<TraceFoldMark> = []
  const record = (draft: EventDraft): CanonicalEvent => {
    const index = events.length + 1
    const position = { id: `event-${index}`, runId: RunId.make(options.runId), seq: index, index }
    const event = recordEvent(draft, position)
    events.push(event)
    return event
  }
  const processAt = (arrivals: ReadonlyArray<Arrival>, now: number): number | undefined => {
    let given = arrivals
    if (isKilled(steps++)) {
      const isCreated = events.some(({ type }) => type === "run.created")
      fold = resumeTraceFold({
        nodes: nodes.values(),
        isCreated,
        isEnded: end !== undefined,
        isProvisional: end?.endedBecause === "idle"
      })
      given = [...spanInbox.values()]
    }
    const step = stepTraceFold(fold, given, now, options)
    fold = step.state
    facts = step.facts
    end = step.correction ?? step.end ?? end
    for (const draft of step.events) state = project(state, record(draft))
    artifacts.push(...step.artifacts)
    marks.push(...step.marks)
    for (const { key, node } of step.consumed) {
      spanInbox.delete(key)
      if (node !== undefined) nodes.set(key, node)
    }
    return step.nextAt
  }
  let nextAt: number | undefined
  for (const { at, telemetry } of requests) {
    while (nextAt !== undefined && nextAt <= at) nextAt = processAt([], nextAt)
    const arrivals = telemetry.map((each): Arrival => ({ key: keyOf(each), at, telemetry: each }))
    const fresh = arrivals.filter(({ key }) => !spanInbox.has(key) && !nodes.has(key))
    for (const arrival of fresh) if (!spanInbox.has(arrival.key)) spanInbox.set(arrival.key, arrival)
    nextAt = processAt(fresh, at)
  }
  while (nextAt !== undefined) nextAt = processAt([], nextAt)
  return { events, state, artifacts, marks, facts, end, fold, nodes: [...nodes.values()] }
}

/** The runs of telemetry, by the binding of its traces. */
export const tracesOf = (telemetry: ReadonlyArray<Telemetry>): ReadonlyMap<string, ReadonlyArray<Telemetry>> => {
  const traces = new Map<string, Array<Telemetry>>()
  for (const each of telemetry) {
    const trace = traces.get(each.traceId)
    if (trace === undefined) traces.set(each.traceId, [each])
    else trace.push(each)
  }
  return traces
}

/** Where the trace of the telemetry goes when all of it has waited. */
export const boundTo = (telemetry: ReadonlyArray<Telemetry>) =>
  bindingOf(
    telemetry.map((each) => ({ key: keyOf(each), at: 0, telemetry: each })),
    SETTLE_MS,
    { settleMs: SETTLE_MS }
  )
