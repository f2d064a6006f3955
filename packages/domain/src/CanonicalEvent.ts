import * as Schema from "effect/Schema"
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

export const CanonicalEventType = Schema.Literals(CANONICAL_EVENT_TYPES).annotate({ identifier: "CanonicalEventType" })
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
])
export type SubjectKind = typeof SubjectKind.Type

export const Subject = Schema.Struct({ kind: SubjectKind, id: Schema.String }).annotate({ identifier: "EventSubject" })
export type Subject = typeof Subject.Type

export const EventSource = Schema.Struct({
  kind: Schema.Literals(["runtime", "control-plane", "replay"]),
  name: Schema.String,
  rawType: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "EventSource" })
export type EventSource = typeof EventSource.Type

export const EventTrace = Schema.Struct({
  traceId: Schema.optionalKey(Schema.String),
  spanId: Schema.optionalKey(Schema.String),
  parentSpanId: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "EventTrace" })
export type EventTrace = typeof EventTrace.Type

/** Version of the event envelope (http-details section 6.1). */
export const EVENT_SCHEMA_VERSION = 3

/** A canonical event as stored and as served (http-details section 6.1). */
export const CanonicalEvent = Schema.Struct({
  id: Schema.String,
  runId: RunId,
  /** Ascending over the whole log; the resume cursor everywhere. */
  seq: Schema.Int,
  /** Dense position in the run: 1, 2, 3, ... */
  index: Schema.Int,
  ts: Schema.String,
  type: CanonicalEventType,
  schemaVersion: Schema.Int,
  subject: Schema.optionalKey(Subject),
  source: EventSource,
  trace: Schema.optionalKey(EventTrace),
  data: Schema.JsonObject
}).annotate({ identifier: "CanonicalEvent" })
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
