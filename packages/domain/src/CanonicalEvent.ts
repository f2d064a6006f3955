import * as Schema from "effect/Schema"
import { Field } from "./Field.ts"
import { RunId } from "./Ids.ts"

/** All canonical event types, in the order of the specification ("Events"). */
export const CANONICAL_EVENT_TYPES = [
  "run.created",
  "run.started",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.suspended",
  "run.resumed",
  "session.bound",
  "session.stream.opened",
  "session.state.changed",
  "participant.seen",
  "message.sent",
  "message.received",
  "message.send_failed",
  "signal.emitted",
  "signal.acknowledged",
  "proposal.created",
  "proposal.updated",
  "decision.proposed",
  "decision.finalized",
  "progress.reported",
  "tool.called",
  "tool.completed",
  "artifact.created",
  "policy.resolved",
  "policy.commitment.evaluated",
  "policy.denied",
  "llm.call.completed"
] as const

export const CanonicalEventType = Schema.Literals(CANONICAL_EVENT_TYPES).annotate({
  identifier: "CanonicalEventType",
  description: "What happened; decision.proposed is reserved and not emitted"
})
export type CanonicalEventType = typeof CanonicalEventType.Type

export const SubjectKind = Schema.Literals([
  "run",
  "session",
  "participant",
  "message",
  "signal",
  "proposal",
  "decision",
  "tool",
  "artifact",
  "trace",
  "policy"
]).annotate({ description: "Kind of the thing" })
export type SubjectKind = typeof SubjectKind.Type

export const Subject = Schema.Struct({
  kind: SubjectKind,
  id: Field.text("Id of the thing; empty when the runtime named none", "go-no-go")
}).annotate({ identifier: "EventSubject", description: "The thing an event is about" })
export type Subject = typeof Subject.Type

export const EventSource = Schema.Struct({
  kind: Schema.Literals(["runtime", "control-plane", "replay"]).annotate({ description: "Where the event was made" }),
  name: Field.text("The part that made it", "rust-runtime"),
  rawType: Schema.optionalKey(Field.text("Message type, or kind of frame, that the event was derived from", "Vote"))
}).annotate({ identifier: "EventSource", description: "Who made an event" })
export type EventSource = typeof EventSource.Type

export const EventTrace = Schema.Struct({
  traceId: Schema.optionalKey(Field.text("W3C trace id: 32 hex digits")),
  spanId: Schema.optionalKey(Field.text("Span id: 16 hex digits")),
  parentSpanId: Schema.optionalKey(Field.text("Id of the span around it: 16 hex digits"))
}).annotate({ identifier: "EventTrace", description: "Where an event stands in the distributed trace of its run" })
export type EventTrace = typeof EventTrace.Type

/** Version of the event envelope (http-details section 6.1). */
export const EVENT_SCHEMA_VERSION = 3

/** A canonical event as stored and as served (http-details section 6.1). */
export const CanonicalEvent = Schema.Struct({
  id: Field.text("Id of the event: UUID"),
  runId: RunId,
  seq: Field.integer(
    "Place in the log of all runs, ascending and with gaps within a run; the resume cursor everywhere"
  ),
  index: Field.integer("Place in the run: 1, 2, 3, ... without gaps, so a reader can prove that it missed nothing"),
  ts: Field.time("When the service received or made it"),
  type: CanonicalEventType,
  schemaVersion: Field.integer("Version of this envelope", EVENT_SCHEMA_VERSION),
  subject: Schema.optionalKey(Subject),
  source: EventSource,
  trace: Schema.optionalKey(EventTrace),
  data: Field.object("What happened; the keys depend on the type. Events of messages carry decodedPayload")
}).annotate({ identifier: "CanonicalEvent", description: "One entry of a run's log, in the form all modes share" })
export type CanonicalEvent = typeof CanonicalEvent.Type

/** A canonical event before the log has given it its id and its places (`id`, `runId`, `seq`, `index`). */
export interface EventDraft {
  readonly ts: string
  readonly type: CanonicalEventType
  readonly subject?: Subject
  readonly source: EventSource
  readonly trace?: EventTrace
  readonly data: Schema.JsonObject
}
