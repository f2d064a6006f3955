import {
  CanonicalEvent,
  ExportDigest,
  Field,
  MarkAppendix,
  RunId,
  RunMetrics,
  RunState,
  RunStatus,
  Seal
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { RunDivergence } from "../decisions/Decisions.ts"
import { Run, RunUsage, Timestamp } from "../runs/Run.ts"
import { Artifact } from "../runs/RunRecords.ts"

const optional = Schema.optionalKey

/** The answer of `GET /runs/:id/traces` (docs/reference/runs.md#traces). */
export const RunTraces = Schema.Struct({
  traceId: optional(Field.text("W3C trace id: 32 hex digits")),
  spanCount: Field.integer("Events of the run that carry a span id"),
  lastSpanId: optional(Field.text("The last of them: 16 hex digits")),
  linkedArtifacts: Field.texts("Ids of the run's artifacts"),
  runStatus: RunStatus,
  scenarioRef: optional(Field.text("Scenario that the run was made from; absent when there was none"))
}).annotate({ identifier: "RunTraces", description: "The trace of a run, and what it is linked to" })
export type RunTraces = typeof RunTraces.Type

const TraceSpan = Schema.Struct({
  traceId: Field.text("W3C trace id: 32 hex digits"),
  spanId: Field.text("Span id: 16 hex digits"),
  parentSpanId: optional(Field.text("Id of the span around it, which may be unknown: 16 hex digits")),
  name: Field.text("Name of the span", "chat gpt-4o"),
  kind: Field.text("What it is: agent, step, model, tool, retrieval, handoff, workflow or other", "model"),
  startedAtUnixMs: Field.number("Start by the clock of the application: Unix milliseconds, to three decimals"),
  durationMs: Field.number("Milliseconds, to three decimals"),
  agent: optional(Field.text("Agent that the span names", "coordinator")),
  tool: optional(Field.text("Tool that it calls", "lookup")),
  model: optional(Field.text("Model that it calls", "gpt-4o")),
  ok: Field.flag("False when it failed"),
  errorCode: optional(Field.text("Type of its error", "TimeoutError")),
  errorMessage: optional(Field.text("Message of its error, one line"))
}).annotate({ identifier: "TraceSpan", description: "A span that was received for a run" })
export type TraceSpan = typeof TraceSpan.Type

/** The answer of `GET /runs/:id/spans` (docs/reference/runs.md#traces). */
export const RunSpans = Schema.Struct({
  data: Schema.Array(TraceSpan).annotate({ description: "The spans of this page, in the order of their decision" }),
  nextCursor: Field.integer("To be given as after for the next page, also for spans that arrive later"),
  hasMore: Field.flag("Whether more spans are stored")
}).annotate({ identifier: "RunSpans", description: "One page of the spans of a run" })
export type RunSpans = typeof RunSpans.Type

const ComparedRun = Schema.Struct({
  runId: RunId,
  status: RunStatus,
  modeName: optional(Field.text("Session mode", "macp.mode.decision.v1")),
  durationMs: optional(Field.number("Milliseconds from start to end")),
  usage: optional(RunUsage)
}).annotate({ identifier: "ComparedRun", description: "One side of a comparison" })

/** The answer of `POST /runs/compare` (docs/reference/runs.md#compare). */
export const RunComparison = Schema.Struct({
  left: ComparedRun,
  right: ComparedRun,
  statusMatch: Field.flag("Whether both have the same status"),
  durationDeltaMs: optional(Field.number("Duration of the right run minus that of the left, milliseconds")),
  confidenceDelta: optional(Field.number("Confidence of the right decision minus that of the left")),
  participantsDiff: Schema.Struct({
    added: Field.texts("Only in the right run"),
    removed: Field.texts("Only in the left run"),
    common: Field.texts("In both")
  }).annotate({ description: "Participants by id" }),
  signalsDiff: Schema.Struct({
    added: Field.texts("Only in the right run"),
    removed: Field.texts("Only in the left run")
  }).annotate({ description: "Signals by name" }),
  divergence: Schema.NullOr(RunDivergence).annotate({
    description: "The first difference; null when both say the same"
  })
}).annotate({ identifier: "RunComparison", description: "Two runs side by side" })
export type RunComparison = typeof RunComparison.Type

const { archivedAt, createdAt, endedAt, id, metadata, runtimeKind, runtimeSessionId, runtimeVersion } = Run.fields
const { source, startedAt, status, tags, traceId } = Run.fields

/** The run of an export bundle (docs/reference/runs.md#export). */
export const ExportedRun = Schema.Struct({
  id,
  status,
  runtimeKind,
  runtimeVersion,
  runtimeSessionId,
  traceId,
  createdAt,
  startedAt,
  endedAt,
  tags,
  archivedAt,
  source,
  metadata
}).annotate({ identifier: "ExportedRun", description: "The record of an exported run" })
export type ExportedRun = typeof ExportedRun.Type

/** The session that a run is bound to, as an export bundle shows it (docs/reference/runs.md#export). */
export const ExportedSession = Schema.Struct({
  runId: RunId,
  runtimeKind: Field.text("Kind of the runtime", "rust"),
  runtimeSessionId: Field.text("Id of the session"),
  modeName: Field.text("Session mode", "macp.mode.decision.v1"),
  modeVersion: Field.text("Version of the mode"),
  configurationVersion: Field.text("Version of the configuration"),
  policyVersion: Field.text("Governance policy", "policy.default"),
  initiatorParticipantId: Field.text("Who opened the session"),
  sessionState: Field.text("Last state that was seen", "RESOLVED"),
  expiresAt: Schema.NullOr(Timestamp).annotate({ description: "When the session runs out of time; null when unknown" }),
  lastSeenAt: Schema.NullOr(Timestamp).annotate({ description: "When the service last received anything about it" }),
  capabilities: Field.object("What the runtime says it can do"),
  lastStreamCursor: Field.integer("Ordinal of the last accepted envelope in the log"),
  streamConnectedAt: Schema.NullOr(Timestamp).annotate({ description: "When its stream was last opened" }),
  streamDisconnectedAt: Schema.NullOr(Timestamp).annotate({ description: "When its stream last ended" }),
  metadata: Schema.Struct({ participants: Field.texts("Participants of the session") }).annotate({
    description: "What else is known of it"
  }),
  createdAt: Field.time("When the run was bound to it"),
  updatedAt: Field.time("When the record last changed")
}).annotate({ identifier: "ExportedSession", description: "The session that an exported run is bound to" })
export type ExportedSession = typeof ExportedSession.Type

export const RawEvent = Schema.Struct({
  id: Field.text("Id of the raw event: UUID"),
  runId: RunId,
  seq: Field.integer("Position among the raw events of the run: 1, 2, 3, ... without gaps"),
  ts: Field.time("When it was received"),
  kind: Field.text("Kind of the frame", "stream-envelope"),
  sourceName: Field.text("Where it came from", "rust-runtime"),
  payload: Field.object("The frame; the payload of an envelope is base64 text in envelope.payloadBase64"),
  traceId: optional(Field.text("W3C trace id: 32 hex digits")),
  spanId: optional(Field.text("Span id: 16 hex digits")),
  createdAt: Field.time("When it was stored")
}).annotate({ identifier: "RawEvent", description: "A frame as it came from the runtime" })
export type RawEvent = typeof RawEvent.Type

/** The answer of `GET /runs/:id/export` in its JSON form (docs/reference/runs.md#export). */
export const RunBundle = Schema.Struct({
  run: ExportedRun,
  session: Schema.NullOr(ExportedSession).annotate({ description: "Null while no session is bound" }),
  projection: Schema.NullOr(RunState).annotate({ description: "The projected state" }),
  metrics: Schema.NullOr(RunMetrics).annotate({ description: "The counters" }),
  artifacts: Schema.Array(Artifact).annotate({ description: "All artifacts, oldest first" }),
  marks: optional(MarkAppendix),
  canonicalEvents: Schema.Array(CanonicalEvent).annotate({ description: "The first eventLimit events, by seq" }),
  rawEvents: Schema.Array(RawEvent).annotate({ description: "The first eventLimit frames; empty unless requested" }),
  exportedAt: Field.time("When the export was made"),
  seal: optional(
    Schema.NullOr(Seal).annotate({ description: "The seal over all events; null while the run has not ended" })
  ),
  heads: optional(Field.texts("Head of the hash chain after each event of canonicalEvents, hexadecimal")),
  digest: optional(ExportDigest)
}).annotate({ identifier: "RunBundle", description: "A run with everything that belongs to it" })
export type RunBundle = typeof RunBundle.Type

/** Of the other form: one JSON object a line. */
export const JSON_LINES_CONTENT_TYPE = "application/x-ndjson"
