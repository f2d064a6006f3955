import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { RunId } from "../Ids.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { ArtifactCreated } from "./ArtifactCreated.ts"
import { type CanonicalEventType, isCanonicalEventType } from "./CanonicalEventType.ts"
import { DecisionFinalized, DecisionProposed } from "./DecisionEvents.ts"
import type { DraftHead } from "./EventType.ts"
import { LlmCallCompleted } from "./LlmCallCompleted.ts"
import { MessageReceived, MessageSendFailed, MessageSent } from "./MessageEvents.ts"
import { ParticipantSeen } from "./ParticipantSeen.ts"
import { PolicyCommitmentEvaluated, PolicyDenied, PolicyResolved } from "./PolicyEvents.ts"
import { ProgressReported } from "./ProgressReported.ts"
import { ProposalCreated, ProposalUpdated } from "./ProposalEvents.ts"
import {
  EVENT_SCHEMA_VERSION,
  type EventCore,
  type EventTrace,
  isEventCore,
  isRecordedEvent,
  RecordedEvent
} from "./RecordedEvent.ts"
import { RunCancelled, RunCompleted, RunCreated, RunFailed, RunResumed, RunStarted, RunSuspended } from "./RunEvents.ts"
import { SessionBound, SessionStateChanged, SessionStreamOpened } from "./SessionEvents.ts"
import { SignalAcknowledged, SignalEmitted } from "./SignalEvents.ts"
import { ToolCalled, ToolCompleted } from "./ToolEvents.ts"

/** Every type of canonical events, by its name. */
const eventTypes = {
  "run.created": RunCreated,
  "run.started": RunStarted,
  "run.completed": RunCompleted,
  "run.failed": RunFailed,
  "run.cancelled": RunCancelled,
  "run.suspended": RunSuspended,
  "run.resumed": RunResumed,
  "session.bound": SessionBound,
  "session.stream.opened": SessionStreamOpened,
  "session.state.changed": SessionStateChanged,
  "participant.seen": ParticipantSeen,
  "message.sent": MessageSent,
  "message.received": MessageReceived,
  "message.send_failed": MessageSendFailed,
  "signal.emitted": SignalEmitted,
  "signal.acknowledged": SignalAcknowledged,
  "proposal.created": ProposalCreated,
  "proposal.updated": ProposalUpdated,
  "decision.proposed": DecisionProposed,
  "decision.finalized": DecisionFinalized,
  "progress.reported": ProgressReported,
  "tool.called": ToolCalled,
  "tool.completed": ToolCompleted,
  "artifact.created": ArtifactCreated,
  "policy.resolved": PolicyResolved,
  "policy.commitment.evaluated": PolicyCommitmentEvaluated,
  "policy.denied": PolicyDenied,
  "llm.call.completed": LlmCallCompleted
} as const satisfies { readonly [Type in CanonicalEventType]: { readonly type: Type } }
type EventTypes = typeof eventTypes

/** A canonical event of one type: `data` typed, its aliases resolved, and beside it the event as it is `recorded`. */
export type EventOf<Type extends CanonicalEventType> = EventTypes[Type]["schema"]["Type"]

/** A canonical event of a type that this version knows. */
export type KnownEvent = EventOf<CanonicalEventType>

/** What an event of the type says. */
export type EventData<Type extends CanonicalEventType> = EventOf<Type>["data"]

/** An event before the log has given it its id and its places (`id`, `runId`, `seq`, `index`). */
export type EventDraft = ReturnType<EventTypes[CanonicalEventType]["draft"]>

const { id, index, runId, seq, source, subject, trace, ts } = RecordedEvent.fields
/**
 * An event of a type, or with an envelope, that this version does not know: of a later version, or made by somebody
 * else. It has its place in the log, and what it says is kept as it is.
 */
const UnknownEvent = Schema.Struct({
  id,
  runId,
  seq,
  index,
  ts,
  type: Schema.Literal("unknown"),
  /** Subject, source and trace are there when this version can read them. */
  subject,
  source: Schema.optionalKey(source),
  trace,
  data: Schema.JsonObject,
  /** All of it, with the type that it was recorded with and whatever else its envelope has. */
  recorded: Schema.declare(isEventCore)
})
export type UnknownEvent = typeof UnknownEvent.Type

const AnyEvent = Schema.Union([...Object.values(eventTypes).map(({ schema }) => schema), UnknownEvent])

/** An event of a run's log as code sees it; told apart by `type`. */
export type CanonicalEvent = KnownEvent | UnknownEvent

/** Types a draft from the JSON that is to be recorded of it. */
export const draftEvent = (type: CanonicalEventType, head: DraftHead, data: JsonObject): EventDraft =>
  eventTypes[type].draft(head, data)

/** The place that the log gives an event, and the trace of its run, for events that have none of their own. */
export interface EventPosition {
  readonly id: string
  readonly runId: RunId
  readonly seq: number
  readonly index: number
  readonly trace?: EventTrace
}

/** What a draft becomes in the log. The text of its `recorded` form is what is stored. */
export const recordEvent = (draft: EventDraft, place: EventPosition): KnownEvent => {
  const { id, index, runId, seq } = place
  const { source, subject, ts, type } = draft
  const trace = draft.trace ?? place.trace
  const recorded: RecordedEvent = {
    id,
    runId,
    seq,
    index,
    ts,
    type,
    schemaVersion: EVENT_SCHEMA_VERSION,
    ...(subject !== undefined && { subject }),
    source,
    ...(trace !== undefined && { trace }),
    data: draft.recorded.data
  }
  return {
    ...draft,
    id,
    runId,
    seq,
    index,
    schemaVersion: EVENT_SCHEMA_VERSION,
    ...(trace !== undefined && { trace }),
    recorded
  }
}

/** What was read has no place in a log: it is not an event. */
export class EventUnreadable extends Data.TaggedError("EventUnreadable")<{ readonly why: string }> {
  override get message(): string {
    return `not a canonical event: ${this.why}`
  }
}

/**
 * Types an event as the log or an export holds it. Whatever has a place in a log is an event, an `unknown` one if need
 * be; anything else fails with EventUnreadable.
 */
export const decodeEvent = (json: unknown): Result.Result<CanonicalEvent, EventUnreadable> => {
  if (isRecordedEvent(json)) return Result.succeed(typedEvent(json))
  if (isEventCore(json)) return Result.succeed(unknownEvent(json))
  return Result.fail(new EventUnreadable({ why: "it has no place in a log, no type, or says nothing" }))
}

/** `decodeEvent` of the text of an event. */
export const decodeEventText = (text: string): Result.Result<CanonicalEvent, EventUnreadable> =>
  Result.flatMap(
    Result.try({
      try: (): unknown => JSON.parse(text),
      catch: (cause) => new EventUnreadable({ why: String(cause) })
    }),
    decodeEvent
  )

const typedEvent = (recorded: RecordedEvent): CanonicalEvent =>
  isCanonicalEventType(recorded.type) && recorded.schemaVersion <= EVENT_SCHEMA_VERSION
    ? eventTypes[recorded.type].typed(recorded)
    : unknownEvent(recorded, recorded)

type Around = Partial<Pick<RecordedEvent, "subject" | "source" | "trace">>

const unknownEvent = (recorded: EventCore, around: Around = {}): UnknownEvent => {
  const { data, id, index, runId, seq, ts } = recorded
  const { source, subject, trace } = around
  return {
    id,
    runId,
    seq,
    index,
    ts,
    type: "unknown",
    ...(subject !== undefined && { subject }),
    ...(source !== undefined && { source }),
    ...(trace !== undefined && { trace }),
    data,
    recorded
  }
}

/** An event in the form in which it is served, typed by those who receive it; encoded, it is what was recorded. */
export const CanonicalEvent = RecordedEvent.pipe(
  Schema.decodeTo(
    Schema.toType(AnyEvent),
    SchemaTransformation.transformEffect({
      decode: (recorded) => Effect.succeed(typedEvent(recorded)),
      encode: ({ recorded }) => SchemaParser.decodeUnknownEffect(RecordedEvent)(recorded)
    })
  )
)
