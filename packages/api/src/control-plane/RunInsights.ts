import { CanonicalEvent, RunId, RunMetrics, RunState, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { Run, Timestamp } from "./Run.ts"
import { Artifact } from "./RunRecords.ts"

const optional = Schema.optionalKey

/** The answer of `GET /runs/:id/traces` (http-details section 4.10). */
export const RunTraces = Schema.Struct({
  traceId: optional(Schema.String),
  spanCount: Schema.Int,
  lastSpanId: optional(Schema.String),
  linkedArtifacts: Schema.Array(Schema.String),
  runStatus: RunStatus,
  scenarioRef: optional(Schema.String)
}).annotate({ identifier: "RunTraces", description: "The trace of a run, and what it is linked to" })
export type RunTraces = typeof RunTraces.Type

const ComparedRun = Schema.Struct({
  runId: RunId,
  status: RunStatus,
  modeName: optional(Schema.String),
  durationMs: optional(Schema.Number)
}).annotate({ identifier: "ComparedRun" })

/** The answer of `POST /runs/compare` (http-details section 4.8). */
export const RunComparison = Schema.Struct({
  left: ComparedRun,
  right: ComparedRun,
  statusMatch: Schema.Boolean,
  durationDeltaMs: optional(Schema.Number.annotate({ description: "Right minus left" })),
  confidenceDelta: optional(Schema.Number.annotate({ description: "Right minus left" })),
  participantsDiff: Schema.Struct({
    added: Schema.Array(Schema.String).annotate({ description: "Only in the right run" }),
    removed: Schema.Array(Schema.String).annotate({ description: "Only in the left run" }),
    common: Schema.Array(Schema.String)
  }),
  signalsDiff: Schema.Struct({ added: Schema.Array(Schema.String), removed: Schema.Array(Schema.String) })
}).annotate({ identifier: "RunComparison", description: "Two runs side by side" })
export type RunComparison = typeof RunComparison.Type

const { archivedAt, createdAt, endedAt, id, metadata, runtimeKind, runtimeSessionId, runtimeVersion } = Run.fields
const { source, startedAt, status, tags, traceId } = Run.fields

/** The run of an export bundle (http-details section 4.9). */
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
}).annotate({ identifier: "ExportedRun" })
export type ExportedRun = typeof ExportedRun.Type

/** The session that a run is bound to, as an export bundle shows it (http-details section 4.9). */
export const ExportedSession = Schema.Struct({
  runId: RunId,
  runtimeKind: Schema.String,
  runtimeSessionId: Schema.String,
  modeName: Schema.String,
  modeVersion: Schema.String,
  configurationVersion: Schema.String,
  policyVersion: Schema.String,
  initiatorParticipantId: Schema.String,
  sessionState: Schema.String,
  expiresAt: Schema.NullOr(Timestamp),
  lastSeenAt: Schema.NullOr(Timestamp),
  capabilities: Schema.JsonObject,
  lastStreamCursor: Schema.Int.annotate({ description: "Ordinal of the last accepted envelope in the log" }),
  streamConnectedAt: Schema.NullOr(Timestamp),
  streamDisconnectedAt: Schema.NullOr(Timestamp),
  metadata: Schema.Struct({ participants: Schema.Array(Schema.String) }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "ExportedSession" })
export type ExportedSession = typeof ExportedSession.Type

export const RawEvent = Schema.Struct({
  id: Schema.String,
  runId: RunId,
  seq: Schema.Int.annotate({ description: "Dense position among the raw events of the run" }),
  ts: Timestamp,
  kind: Schema.String,
  sourceName: Schema.String,
  payload: Schema.JsonObject,
  traceId: optional(Schema.String),
  spanId: optional(Schema.String),
  createdAt: Timestamp
}).annotate({ identifier: "RawEvent", description: "A frame as it came from the runtime" })
export type RawEvent = typeof RawEvent.Type

/** The answer of `GET /runs/:id/export` in its JSON form (http-details section 4.9). */
export const RunBundle = Schema.Struct({
  run: ExportedRun,
  session: Schema.NullOr(ExportedSession),
  projection: Schema.NullOr(RunState),
  metrics: Schema.NullOr(RunMetrics),
  artifacts: Schema.Array(Artifact),
  canonicalEvents: Schema.Array(CanonicalEvent),
  rawEvents: Schema.Array(RawEvent),
  exportedAt: Timestamp
}).annotate({ identifier: "RunBundle", description: "A run with everything that belongs to it" })
export type RunBundle = typeof RunBundle.Type

/** Of the other form: one JSON object a line. */
export const JSON_LINES_CONTENT_TYPE = "application/x-ndjson"
