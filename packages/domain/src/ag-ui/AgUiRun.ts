import type * as Schema from "effect/Schema"
import type { CanonicalEvent, EventOf } from "../events/CanonicalEvent.ts"
import { noSubjects, type Subjects, subjectName, withSubject } from "../narrative/Subjects.ts"
import { createsProposal } from "../normaliser/DerivedEvents.ts"
import { foldDecision } from "../projector/Decision.ts"
import { project } from "../projector/Projector.ts"
import type { DecisionCurrent, RunState } from "../projector/RunState.ts"
import { addUsage, type UsageSums } from "../projector/UsageSums.ts"
import { isTerminal, type RunStatus } from "../run/RunStatus.ts"
import { boundProse } from "../values/Bounds.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { AG_UI_PROTOCOL_VERSION, type AgUiEvent, type AgUiUsage } from "./AgUiEvent.ts"
import { customEvent, isNoise, messageEvents, toolEvents } from "./EventTranslation.ts"
import { type AskedItems, askedAfter, interruptOf } from "./Interrupts.ts"
import { patchOf } from "./StatePatch.ts"

/** A state with more JSON text is left out of a stream, which says so. Characters. */
export const MAX_AG_UI_STATE = 384 * 1024
/** The upper bound of a state at which it is counted again, in a snapshot: at most one for each 128 KiB of patches. */
const COUNTED_AGAIN = 512 * 1024

/** A patch with more text, or more operations, becomes a snapshot. */
export const MAX_PATCH_CHARACTERS = 64 * 1024
const MAX_PATCH_OPERATIONS = 1_000

/** Of the card of a decision, bytes. */
const MAX_CARD_TEXT = 16 * 1024

/** The phases of a run, in their order; each is a step of AG-UI. */
const PHASES = ["opening", "proposal", "deliberation", "outcome"] as const
type Phase = (typeof PHASES)[number]

/**
 * An event of AG-UI as JSON text. The last one of a canonical event has its `seq`: a client may resume behind it.
 */
export interface AgUiFrame {
  readonly json: string
  readonly seq?: number
}

/** How far a stream of AG-UI events has come. */
export interface AgUiRun {
  readonly threadId: string
  readonly runId: string
  readonly phase: Phase
  /** The state that the client has, and an upper bound of its characters; absent when it is left out. */
  readonly state: { readonly sent: RunState; readonly characters: number } | undefined
  readonly status: RunStatus
  /** The event that ended the run, when the stream has sent it. */
  readonly failure: { readonly message: string; readonly code: string } | undefined
  readonly decision: Schema.JsonObject | undefined
  readonly usage: UsageSums
  /** Questions to people that are open. */
  readonly asked: AskedItems
  /** Of the events that this stream has sent. */
  readonly subjects: Subjects
}

export type AgUiStep = readonly [AgUiRun, ReadonlyArray<AgUiFrame>]

/** The ids under which a front end knows the run. */
export interface AgUiIds {
  readonly threadId: string
  readonly runId: string
}

/**
 * Begins a stream with the state after the last event that the client already has, and with the questions that are open
 * then; without one, the empty state.
 */
export const openAgUi = ({ runId, threadId }: AgUiIds, state: RunState, asked: AskedItems = new Map()): AgUiStep => {
  const { current } = state.decision
  const phase = phaseOf(state)
  const opened: AgUiRun = {
    threadId,
    runId,
    phase,
    state: undefined,
    status: state.run.status,
    failure: state.run.status === "failed" ? unknownFailure : undefined,
    decision: current?.finalized === true ? summaryOf(current) : undefined,
    usage: state.llm.totals,
    asked,
    subjects: noSubjects
  }
  const [run, frames] = snapshot(opened, state)
  return [
    run,
    [
      frame({ type: "RUN_STARTED", threadId, runId, protocolVersion: AG_UI_PROTOCOL_VERSION }),
      ...frames,
      frame({ type: "STEP_STARTED", stepName: phase })
    ]
  ]
}

/**
 * Translates the next events of the run, in the order of their index, and then sends one change of the state. The
 * stream leaves the state out from the first time on that it is larger than `MAX_AG_UI_STATE`.
 */
export const translate = (run: AgUiRun, events: ReadonlyArray<CanonicalEvent>): AgUiStep =>
  runSliced(translateInSlices(run, events))

/** The same, one event a slice. */
export function* translateInSlices(run: AgUiRun, events: Iterable<CanonicalEvent>): Sliced<AgUiStep> {
  const frames: Array<AgUiFrame> = []
  let next = run
  let state = run.state?.sent
  for (const event of events) {
    if (state !== undefined) state = project(state, event)
    const [after, translated] = translateOne(next, event)
    next = after
    frames.push(...translated.map((one, at) => (at === translated.length - 1 ? frame(one, event.seq) : frame(one))))
    yield
  }
  if (state === undefined || state === run.state?.sent) return [next, frames]
  const [sent, change] = stateChange(next, state)
  return [sent, [...frames, ...change]]
}

/**
 * Ends a stream that has sent all events: with the outcome of the run, or with its failure. `card` is the card of the
 * decision as lines of text, for a front end without its picture.
 */
export const finishAgUi = (run: AgUiRun, card?: ReadonlyArray<string>): ReadonlyArray<AgUiFrame> => {
  const { failure, phase, runId, status, threadId } = run
  const decision =
    run.decision === undefined || card === undefined
      ? run.decision
      : { ...run.decision, text: boundProse(card.join("\n"), MAX_CARD_TEXT) }
  const usage = usageOf(run.usage)
  const last: AgUiEvent =
    failure !== undefined
      ? { type: "RUN_ERROR", ...failure, ...usage }
      : {
          type: "RUN_FINISHED",
          threadId,
          runId,
          outcome: { type: status === "cancelled" ? "cancelled" : "success" },
          result: { status, ...(decision !== undefined && { decision }) },
          ...usage
        }
  return [frame({ type: "STEP_FINISHED", stepName: phase }), frame(last)]
}

/** Whether the run waits for people: it has open questions, and has not ended. */
export const isAgUiInterrupted = (run: AgUiRun): boolean => run.asked.size > 0 && !isAgUiEnded(run)

/** Ends a stream whose run waits for people. `inbox` is the address of the service that takes their answers. */
export const interruptAgUi = (run: AgUiRun, inbox: string | undefined): ReadonlyArray<AgUiFrame> => {
  const { asked, phase, runId, status, threadId } = run
  const interrupts = [...asked.values()].map((item) => interruptOf(item, inbox))
  const last: AgUiEvent = {
    type: "RUN_FINISHED",
    threadId,
    runId,
    outcome: { type: "interrupt", interrupts },
    result: { status },
    ...usageOf(run.usage)
  }
  return [frame({ type: "STEP_FINISHED", stepName: phase }), frame(last)]
}

/** Ends a stream before the end of its run, so that a client does not take it for a whole one. */
export const breakAgUi = (run: AgUiRun, code: string, message: string): ReadonlyArray<AgUiFrame> => [
  frame({ type: "STEP_FINISHED", stepName: run.phase }),
  frame({ type: "RUN_ERROR", message, code })
]

/** Whether the client has the end of the run. */
export const isAgUiEnded = ({ status }: AgUiRun): boolean => isTerminal(status)

const frame = (event: AgUiEvent, seq?: number): AgUiFrame => ({
  json: JSON.stringify(event),
  ...(seq !== undefined && { seq })
})

const unknownFailure = { message: "the run failed", code: "RUN_FAILED" }

const translateOne = (run: AgUiRun, event: CanonicalEvent): readonly [AgUiRun, ReadonlyArray<AgUiEvent>] => {
  const subjects = withSubject(run.subjects, event)
  const [entered, steps] = enter({ ...follow(run, event), subjects }, phaseBegunBy(event), Date.parse(event.ts))
  const said = [...messageEvents(event, subjectName(subjects, event)), ...toolEvents(event)]
  return [entered, [...steps, ...said, ...(isNoise(event) ? [] : [customEvent(event)])]]
}

/** What the stream keeps of an event for its own end. */
const follow = (run: AgUiRun, event: CanonicalEvent): AgUiRun => {
  switch (event.type) {
    case "run.completed":
      return { ...run, status: "completed" }
    case "run.cancelled":
      return { ...run, status: "cancelled" }
    case "run.failed":
      return { ...run, status: "failed", failure: failureOf(event) }
    case "run.corrected":
      return event.data.status === "failed"
        ? { ...run, status: "failed", failure: failureOf(event) }
        : { ...run, status: event.data.status ?? run.status }
    case "decision.finalized": {
      const { current } = foldDecision({}, event, undefined)
      return current === undefined ? run : { ...run, decision: summaryOf(current) }
    }
    case "llm.call.completed":
      return { ...run, usage: addUsage(run.usage, event.data) }
    case "artifact.created":
      return { ...run, asked: askedAfter(run.asked, event) }
    default:
      return run
  }
}

const failureOf = ({ data }: EventOf<"run.corrected" | "run.failed">) => ({
  message: data.error ?? unknownFailure.message,
  code: data.errorCode ?? unknownFailure.code
})

/** What the end of the stream says of a decision. */
const summaryOf = ({
  action,
  outcomePositive,
  proposalId,
  reasons,
  resolvedBy
}: DecisionCurrent): Schema.JsonObject => ({
  ...(action !== undefined && { action }),
  ...(outcomePositive !== undefined && { outcomePositive }),
  ...(proposalId !== undefined && { proposalId }),
  ...(resolvedBy !== undefined && { resolvedBy }),
  reasons
})

/** A run never returns to an earlier phase. */
const enter = (
  run: AgUiRun,
  phase: Phase | undefined,
  timestamp: number
): readonly [AgUiRun, ReadonlyArray<AgUiEvent>] => {
  if (phase === undefined || PHASES.indexOf(phase) <= PHASES.indexOf(run.phase)) return [run, []]
  return [
    { ...run, phase },
    [
      { type: "STEP_FINISHED", stepName: run.phase, timestamp },
      { type: "STEP_STARTED", stepName: phase, timestamp }
    ]
  ]
}

const phaseBegunBy = ({ type }: CanonicalEvent): Phase | undefined => {
  switch (type) {
    case "proposal.created":
      return "proposal"
    case "proposal.updated":
      return "deliberation"
    case "decision.finalized":
      return "outcome"
    default:
      return undefined
  }
}

/** The phase of a state, where the stream does not begin at the first event. */
const phaseOf = ({ decision: { current } }: RunState): Phase => {
  if (current === undefined) return "opening"
  if (current.finalized) return "outcome"
  return current.proposals.some(({ messageType = "" }) => !createsProposal(messageType)) ? "deliberation" : "proposal"
}

const stateChange = (run: AgUiRun, state: RunState): AgUiStep => {
  if (run.state === undefined) return [run, []]
  const delta = patchOf(run.state.sent, state, MAX_PATCH_OPERATIONS)
  const patch = delta === undefined ? undefined : frame({ type: "STATE_DELTA", delta })
  if (patch === undefined || patch.json.length > MAX_PATCH_CHARACTERS) return snapshot(run, state)
  const characters = run.state.characters + patch.json.length
  // The bound counts removed text too, so the real size is only known from a snapshot.
  if (characters > COUNTED_AGAIN) return snapshot(run, state)
  return [{ ...run, state: { sent: state, characters } }, [patch]]
}

const snapshot = (run: AgUiRun, state: RunState): AgUiStep => {
  const whole = frame({ type: "STATE_SNAPSHOT", snapshot: state })
  const characters = whole.json.length
  if (characters <= MAX_AG_UI_STATE) return [{ ...run, state: { sent: state, characters } }, [whole]]
  const value = { runId: state.run.runId, characters, limit: MAX_AG_UI_STATE, href: `/runs/${state.run.runId}/state` }
  return [{ ...run, state: undefined }, [frame({ type: "CUSTOM", name: "runplane.state.omitted", value })]]
}

const usageOf = (sums: UsageSums): { readonly usage?: ReadonlyArray<AgUiUsage> } => {
  const { cachedTokens, cacheWriteTokens, completionTokens, promptTokens, reasoningTokens, totalTokens } = sums
  if (totalTokens === 0) return {}
  // A client refuses the whole frame for a count that is not exact in JSON, such as the sum of absurd ones.
  const counts = [cachedTokens, cacheWriteTokens, completionTokens, promptTokens, reasoningTokens, totalTokens]
  if (counts.some((count) => count !== undefined && !Number.isSafeInteger(count))) return {}
  return {
    usage: [
      {
        inputTokens: promptTokens,
        outputTokens: completionTokens,
        totalTokens,
        ...(cachedTokens !== undefined && { cachedInputTokens: cachedTokens }),
        ...(cacheWriteTokens !== undefined && { cacheWriteInputTokens: cacheWriteTokens }),
        ...(reasoningTokens !== undefined && { reasoningTokens })
      }
    ]
  }
}
