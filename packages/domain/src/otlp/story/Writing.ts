import * as HashSet from "effect/HashSet"
import type { EventDraft } from "../../events/CanonicalEvent.ts"
import type { Contribution, Evaluation, Meaning } from "../Meaning.ts"
import type { EventOrigin } from "./Head.ts"
import type { SpanNode } from "./Node.ts"
import type { StepOutput, StoryOptions } from "./Output.ts"
import { contributed, participantSeen } from "./SpanEvents.ts"
import type { Draft } from "./State.ts"

/** Participant of spans that neither an agent nor a service names. */
const NAMELESS = "application"

/** Makes the events of one span or log record. */
export interface Writing {
  readonly draft: Draft
  readonly node: SpanNode
  readonly options: StoryOptions
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
  options: StoryOptions
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
  { announce, options, originOf }: Writing,
  contributions: ReadonlyArray<Contribution>,
  agent: string | undefined,
  id: string
): Contributed => {
  if (options.joined !== undefined) return { announced: [], made: [] }
  const origins = contributions.map((contribution) => originOf(contribution.agent ?? agent))
  return {
    announced: origins.flatMap((origin) => announce(origin)),
    made: contributions.flatMap((contribution, index) => {
      const origin = origins[index]
      return origin === undefined ? [] : [{ at: contribution.at, event: contributed(origin, contribution, id) }]
    })
  }
}

/** Adds the marks of evaluations. */
export const addMarks = (
  { marks }: StepOutput,
  { node }: Writing,
  evaluations: ReadonlyArray<Evaluation>,
  agent: string | undefined,
  key: string
): void => {
  for (const { index, ...evaluation } of evaluations) {
    marks.push({
      ...evaluation,
      id: `${key}#${index}`,
      spanId: node.spanId,
      ...(agent !== undefined && { participantId: agent })
    })
  }
}
