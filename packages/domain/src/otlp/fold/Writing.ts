import * as HashSet from "effect/HashSet"
import type { EventDraft } from "../../events/CanonicalEvent.ts"
import type { Evaluation, Meaning, Statement } from "../Meaning.ts"
import type { EventOrigin } from "./Head.ts"
import { idOf, parentOf, type SpanNode } from "./Node.ts"
import type { StepOutput, TraceFoldOptions } from "./Output.ts"
import { participantSeen, statementEvent } from "./SpanEvents.ts"
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

/** The participants that statements bring, and the event of each statement with its time. */
export interface Stated {
  readonly announced: ReadonlyArray<EventDraft>
  readonly made: ReadonlyArray<{ readonly at: string; readonly event: EventDraft }>
}

/** The events of statements to the decision. `agent` is the one that they are made in. */
export const statementEvents = (
  { announce, draft, options, originOf }: Writing,
  given: ReadonlyArray<Statement>,
  agent: string | undefined,
  id: string
): Stated => {
  if (options.joined !== undefined) return { announced: [], made: [] }
  const statements = given.map((statement) => withProposal(draft, statement))
  const origins = statements.map((statement) => originOf(statement.agent ?? agent))
  return {
    announced: origins.flatMap((origin) => announce(origin)),
    made: statements.flatMap((statement, index) => {
      const origin = origins[index]
      return origin === undefined ? [] : [{ at: statement.at, event: statementEvent(origin, statement, id) }]
    })
  }
}

/** A vote that names no proposal is about the only one of the run, and says so where there are none or several. */
const withProposal = (draft: Draft, statement: Statement): Statement => {
  const { kind, payload } = statement
  if (kind !== "vote" || payload["proposal_id"] !== undefined) return statement
  const [only, ...others] = draft.proposals
  const known =
    only !== undefined && others.length === 0
      ? { proposal_id: only, inferredBy: "only proposal" }
      : { problem: `the vote names no proposal, and the run has ${others.length + (only === undefined ? 0 : 1)}` }
  return { ...statement, payload: { ...payload, ...known } }
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
