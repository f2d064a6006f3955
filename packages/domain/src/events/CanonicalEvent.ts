import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { RunId } from "../values/Ids.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import {
  LlmCallCompleted,
  ProgressReported,
  SignalAcknowledged,
  SignalEmitted,
  ToolCalled,
  ToolCompleted
} from "./AgentEvents.ts"
import { type CanonicalEventType, isCanonicalEventType } from "./CanonicalEventType.ts"
import { DecisionFinalized, DecisionProposed } from "./DecisionEvents.ts"
import type { DraftHead } from "./EventType.ts"
import { MessageReceived, MessageSendFailed, MessageSent } from "./MessageEvents.ts"
import { PolicyCommitmentEvaluated, PolicyDenied, PolicyResolved } from "./PolicyEvents.ts"
import { ProposalCreated, ProposalUpdated } from "./ProposalEvents.ts"
import {
  EVENT_SCHEMA_VERSION,
  type EventCore,
  type EventTrace,
  isEventCore,
  isRecordedEvent,
  RecordedEvent
} from "./RecordedEvent.ts"
import {
  ArtifactCreated,
  RunCancelled,
  RunCompleted,
  RunCorrected,
  RunCreated,
  RunFailed,
  RunResumed,
  RunStarted,
  RunSuspended
} from "./RunEvents.ts"
import { ParticipantSeen, SessionBound, SessionStateChanged, SessionStreamOpened } from "./SessionEvents.ts"

/** Every type of canonical events, by its name. */
const eventTypes = {
  "run.created": RunCreated,
  "run.started": RunStarted,
  "run.completed": RunCompleted,
  "run.failed": RunFailed,
  "run.cancelled": RunCancelled,
  "run.corrected": RunCorrected,
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

/** The data of an event of the type. */
export type EventData<Type extends CanonicalEventType> = EventOf<Type>["data"]

/** An event before the log assigns `id`, `runId`, `seq` and `index`. */
export type EventDraft = ReturnType<EventTypes[CanonicalEventType]["draft"]>

const { id, index, runId, seq, source, subject, trace, ts } = RecordedEvent.fields
/**
 * An event of a type, or with an envelope, that this version does not know: written by a later version or by another
 * program. It has a position in the log, and its data is kept unchanged.
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

/** An event of a run's log as code sees it; `type` is the discriminator. */
export type CanonicalEvent = KnownEvent | UnknownEvent

/** A typed draft from the JSON that is to be recorded. */
export const draftEvent = (type: CanonicalEventType, head: DraftHead, data: JsonObject): EventDraft =>
  eventTypes[type].draft(head, data)

/** The id and position that the log assigns, and the trace of the run for events without a trace of their own. */
export interface EventPosition {
  readonly id: string
  readonly runId: RunId
  readonly seq: number
  readonly index: number
  readonly trace?: EventTrace
}

/** A draft as an event of the log. The log stores the text of its `recorded` form. */
export const recordEvent = (draft: EventDraft, position: EventPosition): KnownEvent => {
  const { id, index, runId, seq } = position
  const { source, subject, ts, type } = draft
  const trace = draft.trace ?? position.trace
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

/** The text or value is not an event of a log. */
export class EventUnreadable extends Data.TaggedError("EventUnreadable")<{ readonly why: string }> {
  override get message(): string {
    return `not a canonical event: ${this.why}`
  }
}

/**
 * Types an event of the log or of an export. Every object with the members of `EventCore` is an event, of type
 * `unknown` where this version does not know it; anything else fails with EventUnreadable.
 */
export const decodeEvent = (json: unknown): Result.Result<CanonicalEvent, EventUnreadable> => {
  if (isRecordedEvent(json)) return Result.succeed(typedEvent(json))
  if (isEventCore(json)) return Result.succeed(unknownEvent(json))
  return Result.fail(new EventUnreadable({ why: "it has no position in a log, no type, or no data" }))
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

/** The type by its name: written out, the types of the endpoints with events exceed what the compiler can declare. */
const TypedEvent: Schema.Codec<CanonicalEvent> = Schema.toType(AnyEvent)

/** An event in the form in which it is served, typed by the receiver; encoded, it is the recorded event. */
export const CanonicalEvent = RecordedEvent.pipe(
  Schema.decodeTo(
    TypedEvent,
    SchemaTransformation.transformEffect({
      decode: (recorded) => Effect.succeed(typedEvent(recorded)),
      encode: ({ recorded }) => SchemaParser.decodeUnknownEffect(RecordedEvent)(recorded)
    })
  )
)
