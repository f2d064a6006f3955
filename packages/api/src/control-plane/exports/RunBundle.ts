import {
  CanonicalEvent,
  ErasureAppendix,
  ExportDigest,
  ExportSalts,
  Field,
  MarkAppendix,
  RunId,
  RunMetrics,
  RunState,
  Seal
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { Run, Timestamp } from "../runs/Run.ts"
import { Artifact } from "../runs/RunRecords.ts"

const optional = Schema.optionalKey

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
  salts: optional(ExportSalts),
  erasures: optional(ErasureAppendix),
  digest: optional(ExportDigest)
}).annotate({ identifier: "RunBundle", description: "A run with everything that belongs to it" })
export type RunBundle = typeof RunBundle.Type

/** Of the other form: one JSON object a line. */
export const JSON_LINES_CONTENT_TYPE = "application/x-ndjson"
