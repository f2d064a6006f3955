import * as HashSet from "effect/HashSet"
import type { EventDraft } from "../../events/CanonicalEvent.ts"
import type { Contribution, Evaluation, Meaning } from "../Meaning.ts"
import type { EventOrigin } from "./Head.ts"
import { idOf, parentOf, type SpanNode } from "./Node.ts"
import type { StepOutput, TraceFoldOptions } from "./Output.ts"
import { contributed, participantSeen } from "./SpanEvents.ts"
import { type Draft, get } from "./State.ts"

/** Participant of spans that neither an agent nor a service names. */
const NAMELESS = "application"

/** Makes the events of one span or log record. */
export interface Writing {
  readonly draft: Draft
  readonly node: SpanNode
  readonly options: TraceFoldOptions
  /** Participants that it announced. */
  readonly announced: Array<string>
  /** The origin of events of an agent, else of the service, which is then a guess. */
  readonly originOf: (agent: string | undefined, isGuess?: boolean) => EventOrigin
  /** `participant.seen` for a participant that is new to the run. */
  readonly announce: (origin: EventOrigin, participantId?: string) => ReadonlyArray<EventDraft>
}

export const writingOf = (
  draft: Draft,
  node: SpanNode,
  meaning: Meaning,
  service: string | undefined,
  options: TraceFoldOptions
): Writing => {
  const announced: Array<string> = []
  const isLate = draft.isEnded
  return {
    draft,
    node,
    options,
    announced,
    originOf: (agent, isGuess = false) => ({
      node,
      meaning,
      options,
      sender: agent ?? service ?? NAMELESS,
      isAssumed: isGuess || agent === undefined,
      isLate
    }),
    announce: (origin, participantId = origin.sender) => {
      if (options.joined !== undefined || HashSet.has(draft.participants, participantId)) return []
      draft.participants = HashSet.add(draft.participants, participantId)
      announced.push(participantId)
      return [participantSeen(origin, participantId)]
    }
  }
}

/** The participants that contributions bring, and the event of each contribution with its time. */
export interface Contributed {
  readonly announced: ReadonlyArray<EventDraft>
  readonly made: ReadonlyArray<{ readonly at: string; readonly event: EventDraft }>
}

/** The events of contributions to the decision. `agent` is the one that they are made in. */
export const contributionEvents = (
  { announce, draft, options, originOf }: Writing,
  given: ReadonlyArray<Contribution>,
  agent: string | undefined,
  id: string
): Contributed => {
  if (options.joined !== undefined) return { announced: [], made: [] }
  const contributions = given.map((contribution) => withProposal(draft, contribution))
  const origins = contributions.map((contribution) => originOf(contribution.agent ?? agent))
  return {
    announced: origins.flatMap((origin) => announce(origin)),
    made: contributions.flatMap((contribution, index) => {
      const origin = origins[index]
      return origin === undefined ? [] : [{ at: contribution.at, event: contributed(origin, contribution, id) }]
    })
  }
}

/** A vote that names no proposal is about the only one of the run, and says so where there are none or several. */
const withProposal = (draft: Draft, contribution: Contribution): Contribution => {
  const { kind, payload } = contribution
  if (kind !== "vote" || payload["proposal_id"] !== undefined) return contribution
  const [only, ...others] = draft.proposals
  const known =
    only !== undefined && others.length === 0
      ? { proposal_id: only, inferredBy: "only proposal" }
      : { problem: `the vote names no proposal, and the run has ${others.length + (only === undefined ? 0 : 1)}` }
  return { ...contribution, payload: { ...payload, ...known } }
}

/** Adds the marks of evaluations. `winners` are the spans that count for the response ids of waiting spans. */
export const addMarks = (
  { marks }: StepOutput,
  { draft, node }: Writing,
  evaluations: ReadonlyArray<Evaluation>,
  agent: string | undefined,
  key: string,
  winners?: ReadonlyMap<string, string>
): void => {
  for (const { index, ...evaluation } of evaluations) {
    const callSpanId = judgedCall(draft, node, evaluation.responseId, winners)
    marks.push({
      ...evaluation,
      id: `${key}#${index}`,
      spanId: node.spanId,
      ...(agent !== undefined && { participantId: agent }),
      ...(callSpanId !== undefined && { callSpanId })
    })
  }
}

/** The model call with the response id, else the one that the span is, or that it is inside of. */
const judgedCall = (
  draft: Draft,
  { spanId, traceId }: SpanNode,
  responseId: string | undefined,
  winners?: ReadonlyMap<string, string>
): string | undefined => {
  const id = idOf(traceId, spanId)
  const own = get(draft.spans, id)?.node
  const parent = own === undefined ? undefined : parentOf(own)
  const named = responseId === undefined ? undefined : (get(draft.responses, responseId) ?? winners?.get(responseId))
  const call = [named, id, parent]
    .flatMap((each) => (each === undefined ? [] : [get(draft.spans, each)?.node]))
    .find((each) => each?.kind === "model")
  return call?.spanId
}
