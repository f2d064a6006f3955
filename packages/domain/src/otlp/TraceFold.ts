import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import { draftEvent, type EventDraft } from "../events/CanonicalEvent.ts"
import {
  runCompleted,
  runCorrected,
  runCreated,
  runFailed,
  runStarted,
  sessionStateChanged
} from "../events/ControlPlaneEvents.ts"
import { decideLogs } from "./fold/DecideLogs.ts"
import { decideSpans } from "./fold/DecideSpans.ts"
import { correctionOf, endOf, endsAt, factsOf } from "./fold/End.ts"
import { addLog, logNodeOf, waitingLog } from "./fold/Logs.ts"
import { idOf, nodeOf, TraceFoldNode } from "./fold/Node.ts"
import {
  addArtifact,
  type Consumed,
  type StepOutput,
  type TraceFoldArtifact,
  type TraceFoldMark,
  type TraceFoldOptions
} from "./fold/Output.ts"
import { addSpan, type Draft, get, stateOf, type TraceFold } from "./fold/State.ts"
import { isoOf, recordedTimes } from "./fold/Times.ts"
import { treeOf } from "./fold/Tree.ts"
import { isOfInterest } from "./LogInterest.ts"
import { meaningOf } from "./MeaningOf.ts"
import { type Arrival, OTLP_MODE_NAME, OTLP_RUNTIME_KIND, type RunEnd, type RunFacts } from "./TraceBinding.ts"

export {
  type Consumed,
  type TraceFold,
  type TraceFoldArtifact,
  type TraceFoldMark,
  TraceFoldNode,
  type TraceFoldOptions
}

/** What one step of a fold decided. */
export interface TraceFoldStep {
  readonly state: TraceFold
  /**
   * In the order in which they are appended. The first step begins with `run.created`, `run.started` and the state
   * OPEN of the session. `run.completed` or `run.failed` comes last in the step that ends the run.
   */
  readonly events: ReadonlyArray<EventDraft>
  readonly artifacts: ReadonlyArray<TraceFoldArtifact>
  readonly marks: ReadonlyArray<TraceFoldMark>
  readonly consumed: ReadonlyArray<Consumed>
  /** Number of arrivals that wait in the state; their rows stay in the span inbox. */
  readonly waiting: number
  /** When to call again without new telemetry, Unix milliseconds; undefined when nothing is due. */
  readonly nextAt: number | undefined
  /** Start of the run as recorded; present in the step that begins it. */
  readonly startedAt?: string
  /** The facts after the step. */
  readonly facts: RunFacts
  /** Present in the step that ends the run, and not again. */
  readonly end?: RunEnd
  /** Present in the step whose root corrects an end by silence; `run.corrected` comes last in it. */
  readonly correction?: RunEnd
  /** Arrivals beyond `maxSpans` so far. */
  readonly overflow: number
}

/** What is stored of a run whose fold is resumed. */
export interface StoredTraceFold {
  /** The nodes of `otlp_seen`, in any order. */
  readonly nodes: Iterable<TraceFoldNode>
  /** Whether `run.created` is in the log. */
  readonly isCreated: boolean
  /** Whether the run has ended. */
  readonly isEnded: boolean
  /** Whether it ended by silence, and no root has corrected that. */
  readonly isProvisional: boolean
}

/**
 * The fold of a run from what is stored of it. After a kill, a process resumes the stored nodes and gives all rows
 * that the span inbox has of the run to the next step, with the times of their first arrival. The step then decides
 * what the killed process would have decided: the state is the fold of the nodes, and waiting telemetry is only in the
 * span inbox. A new run has no nodes, is not created and not ended.
 */
export const resumeTraceFold = ({ isCreated, isEnded, isProvisional, nodes }: StoredTraceFold): TraceFold =>
  stateOf(nodes, isCreated, isEnded, isProvisional)

/**
 * The next step of a fold: new arrivals and the time (Unix milliseconds) in, decided events out. Pure and total. Call
 * it for each drained batch and at `nextAt`. The drain appends `events`, inserts `consumed` into `otlp_seen` and
 * deletes those rows from the span inbox in one transaction, and only then keeps `state`.
 */
export const stepTraceFold = (
  state: TraceFold,
  arrivals: ReadonlyArray<Arrival>,
  now: number,
  options: TraceFoldOptions
): TraceFoldStep => {
  const draft: Draft = { ...state }
  const out: StepOutput = { events: [], artifacts: [], marks: [], consumed: [] }
  for (const arrival of arrivals) receive(draft, arrival, out, options)
  const isBegun = HashMap.size(draft.spans) > 0 || draft.waitingLogs > 0
  const startedAt =
    !draft.isCreated && isBegun && options.joined === undefined ? begin(draft, now, out, options) : undefined
  const tree = treeOf(draft)
  const dueAt = decideSpans(draft, tree, now, out, options)
  const end = endOf(draft, tree, now, options)
  const correction = correctionOf(draft, tree, now, options)
  const isFinal = end !== undefined || draft.isEnded || now >= draft.lastAt + options.idleMs
  const logsDueAt = decideLogs(draft, tree, now, isFinal, out, options)
  const facts = factsOf(draft, tree)
  if (end !== undefined) finish(draft, end, now, out, options)
  if (correction !== undefined) correct(draft, correction, facts, now, out, options)
  const times = [dueAt, logsDueAt, endsAt(draft, now, options)].filter((time) => time !== undefined)
  return {
    ...out,
    state: draft,
    waiting: HashMap.size(draft.waiting) + draft.waitingLogs,
    nextAt: times.length === 0 ? undefined : Math.max(now + 1, Math.min(...times)),
    ...(startedAt !== undefined && { startedAt }),
    facts,
    ...(end !== undefined && { end }),
    ...(correction !== undefined && { correction }),
    overflow: draft.overflow
  }
}

/** Adds an arrival to the tree, unless it is a repetition or beyond the limit. */
const receive = (
  draft: Draft,
  arrival: Arrival,
  { consumed }: StepOutput,
  { maxSpans, sha256 }: TraceFoldOptions
): void => {
  const { key, telemetry } = arrival
  const { spanId, traceId } = telemetry
  const id = idOf(traceId, spanId)
  const isSpan = telemetry.kind === "span"
  const isKnown = isSpan ? HashMap.has(draft.spans, id) : HashSet.has(draft.logKeys, key)
  if (isKnown) {
    // A waiting arrival that is given again, with its own key, still waits.
    const known = isSpan ? get(draft.spans, id) : undefined
    const isWaiting = isSpan ? known?.isDecided === false && known.node.key === key : isWaitingLog(draft, id, key)
    if (!isWaiting) consumed.push({ key, traceId, spanId })
    return
  }
  if (draft.accepted >= maxSpans) {
    draft.overflow += 1
    draft.lastAt = Math.max(draft.lastAt, arrival.at)
    consumed.push({ key, traceId, spanId, dropped: "run_full" })
    return
  }
  if (isSpan) {
    const meaning = meaningOf(telemetry)
    const node = nodeOf(arrival, telemetry, meaning, sha256)
    draft.waiting = HashMap.set(draft.waiting, id, { node, span: telemetry, meaning })
    addSpan(draft, node)
    return
  }
  draft.accepted += 1
  const log = waitingLog(arrival, telemetry)
  const dropped = isOfInterest(log.meaning, log.message) ? (addLog(draft, log) ? undefined : "log_full") : "log_unread"
  if (dropped !== undefined) consumed.push({ key, traceId, spanId, node: logNodeOf(draft, log), dropped })
}

const isWaitingLog = (draft: Draft, id: string, key: string): boolean =>
  get(draft.logs, id)?.some((log) => log.key === key) === true

/** Begins the run; returns its start, which a span that arrives later may precede: the end of the run has it again. */
const begin = (draft: Draft, now: number, { events }: StepOutput, { runId, sessionId }: TraceFoldOptions): string => {
  const traceId = draft.first?.traceId ?? ""
  const ts = isoOf(draft.lastAt === 0 ? now : draft.lastAt)
  const identity = { ts, runId, traceId, modeName: OTLP_MODE_NAME, runtimeKind: OTLP_RUNTIME_KIND }
  const { startedAt } =
    draft.startedAt === undefined ? { startedAt: ts } : recordedTimes(draft.startedAt, draft.startedAt, now)
  events.push(
    runCreated({ ...identity, sessionId }),
    runStarted({ ...identity, startedAt }),
    sessionStateChanged(ts, { sessionId, state: "OPEN" })
  )
  draft.isCreated = true
  return startedAt
}

const finish = (draft: Draft, end: RunEnd, now: number, out: StepOutput, options: TraceFoldOptions): void => {
  const { runId, sessionId } = options
  draft.isEnded = true
  draft.isProvisional = end.endedBecause === "idle"
  if (end.status === "completed" && draft.answer?.answer !== undefined && !draft.hasOutput) {
    addArtifact(out, options, "otlp.output", draft.answer.traceId, draft.answer.spanId, draft.answer.answer, now)
  }
  const traceId = draft.first?.traceId ?? ""
  const event = { ts: isoOf(now), runId, traceId, endedAt: end.endedAt, runtimeSessionId: sessionId }
  const { errorCode = "", errorMessage = errorCode } = end
  const drafted =
    end.status === "failed" ? runFailed({ ...event, errorCode, error: errorMessage }) : runCompleted(event)
  const { data } = drafted.recorded
  const { endedBecause, spansEndedAt, spansStartedAt, startedAt } = end
  out.events.push(
    draftEvent(drafted.type, drafted, {
      ...data,
      startedAt,
      ...(spansStartedAt !== undefined && { spansStartedAt }),
      ...(spansEndedAt !== undefined && { spansEndedAt }),
      endedBecause
    })
  )
}

const correct = (
  draft: Draft,
  { endedAt, errorCode, errorMessage, startedAt, status }: RunEnd,
  { name }: RunFacts,
  now: number,
  { events }: StepOutput,
  { runId, sessionId }: TraceFoldOptions
): void => {
  draft.isProvisional = false
  const event = { ts: isoOf(now), runId, traceId: draft.first?.traceId ?? "", runtimeSessionId: sessionId }
  events.push(runCorrected({ ...event, status, startedAt, endedAt, errorCode, error: errorMessage ?? errorCode, name }))
}
