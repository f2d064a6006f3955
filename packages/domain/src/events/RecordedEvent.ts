import * as Schema from "effect/Schema"
import { Field } from "../values/Field.ts"
import { RunId } from "../values/Ids.ts"
import { ErasedMember } from "./ErasedMember.ts"

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
}).annotate({ identifier: "EventTrace", description: "The position of an event in the distributed trace of its run" })
export type EventTrace = typeof EventTrace.Type

/** Version of the event envelope that is written now. */
export const EVENT_SCHEMA_VERSION = 3

/** Members that recorded and typed events share: everything around `type` and `data`. */
export const envelopeFields = {
  id: Field.text("Id of the event: UUID"),
  runId: RunId,
  seq: Field.integer(
    "Position in the log of all runs, ascending and with gaps within a run; the resume cursor everywhere"
  ),
  index: Field.integer("Position in the run: 1, 2, 3, ... without gaps, so a reader can prove that it missed nothing"),
  ts: Field.time("When the service received or made it"),
  schemaVersion: Field.integer("Version of this envelope", EVENT_SCHEMA_VERSION),
  subject: Schema.optionalKey(Subject),
  source: EventSource,
  trace: Schema.optionalKey(EventTrace)
}

const { id, index, runId, schemaVersion, seq, source, subject, trace, ts } = envelopeFields

/**
 * An event as the log stores it and as it is served: `data` is the JSON that was recorded, in the senders' own
 * spellings. The keys are in the order of the stored text.
 */
export const RecordedEvent = Schema.Struct({
  id,
  runId,
  seq,
  index,
  ts,
  type: Schema.String.annotate({
    description: "What happened: a CanonicalEventType, or a type of a later version, which a reader skips"
  }),
  schemaVersion,
  subject,
  source,
  trace,
  data: Field.object("What happened; the keys depend on the type. Events of messages carry decodedPayload"),
  erased: Schema.optionalKey(Schema.Array(ErasedMember)).annotate({
    description: "The members whose values were erased: an empty text or null is in the position of each"
  })
}).annotate({ identifier: "CanonicalEvent", description: "One entry of a run's log, in the form all modes share" })
export type RecordedEvent = typeof RecordedEvent.Type

/** The members that every event has: a position in the log, a type, and data. */
export type EventCore = Pick<RecordedEvent, "id" | "runId" | "seq" | "index" | "ts" | "type" | "data">

/**
 * `Schema.is` of parsed JSON in plain code: every event that is read passes this check, and its data, which is JSON
 * already, needs no walk.
 */
export const isEventCore = (json: unknown): json is EventCore => {
  if (!isObject(json)) return false
  const { data, id, index, runId, seq, ts, type } = json
  return (
    isText(id) && isText(runId) && isInteger(seq) && isInteger(index) && isText(ts) && isText(type) && isObject(data)
  )
}

/** Whether this version can read the whole envelope of an event. */
export const isRecordedEvent = (json: unknown): json is RecordedEvent => {
  if (!isObject(json)) return false
  const { erased, schemaVersion, source, subject, trace } = json
  return (
    isEventCore(json) &&
    isInteger(schemaVersion) &&
    isSource(source) &&
    isSubject(subject) &&
    isTrace(trace) &&
    isErased(erased)
  )
}

const sourceKinds: ReadonlySet<unknown> = new Set(EventSource.fields.kind.literals)
const subjectKinds: ReadonlySet<unknown> = new Set(SubjectKind.literals)

const isSource = (source: unknown): boolean =>
  isObject(source) && sourceKinds.has(source["kind"]) && isText(source["name"]) && isMaybeText(source["rawType"])

const isSubject = (subject: unknown): boolean =>
  subject === undefined || (isObject(subject) && subjectKinds.has(subject["kind"]) && isText(subject["id"]))

const isTrace = (trace: unknown): boolean =>
  trace === undefined ||
  (isObject(trace) &&
    isMaybeText(trace["traceId"]) &&
    isMaybeText(trace["spanId"]) &&
    isMaybeText(trace["parentSpanId"]))

const isErased = (erased: unknown): boolean =>
  erased === undefined ||
  (Array.isArray(erased) &&
    erased.every(
      (member: unknown) =>
        isObject(member) && isText(member["pointer"]) && isText(member["at"]) && isText(member["reason"])
    ))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): boolean => typeof value === "string"

const isMaybeText = (value: unknown): boolean => value === undefined || isText(value)

const isInteger = (value: unknown): boolean => Number.isSafeInteger(value)
