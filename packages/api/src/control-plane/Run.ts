import { RunId, RunMode, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

export const Timestamp = Schema.String.annotate({
  description: "ISO-8601, UTC, milliseconds",
  format: "date-time",
  examples: ["2026-07-01T10:00:00.000Z"]
})

/** A run as the API shows it (http-details section 4.1). Absent optional values are absent keys, except `archivedAt`. */
export const Run = Schema.Struct({
  id: RunId,
  runId: RunId,
  status: RunStatus,
  mode: RunMode,
  runtimeKind: Schema.String.annotate({ examples: ["rust"] }),
  runtimeVersion: optional(Schema.String),
  runtimeSessionId: Schema.String.annotate({ description: "The allocated or given session id" }),
  traceId: Schema.String.annotate({ description: "32 hex digits" }),
  idempotencyKey: optional(Schema.String),
  lastEventSeq: Schema.Int.annotate({ description: "seq of the run's last canonical event" }),
  lastEventIndex: Schema.Int.annotate({ description: "Index of that event: the number of the run's canonical events" }),
  sourceKind: optional(Schema.String),
  sourceRef: optional(Schema.String),
  source: optional(Schema.Struct({ kind: optional(Schema.String), ref: optional(Schema.String) })),
  tags: Schema.Array(Schema.String),
  metadata: Schema.JsonObject.annotate({
    description: "executionRequest (the submitted descriptor), the session metadata, and what is known after the end"
  }),
  errorCode: optional(Schema.String),
  errorMessage: optional(Schema.String),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  startedAt: optional(Timestamp),
  endedAt: optional(Timestamp),
  archivedAt: Schema.NullOr(Timestamp)
}).annotate({
  identifier: "Run",
  description: "A run of a multi-agent session"
})
export type Run = typeof Run.Type

export const RunPage = Schema.Struct({
  data: Schema.Array(Run),
  total: Schema.Int.annotate({ description: "All matches of the same conditions, this page's included" }),
  limit: Schema.Int,
  offset: Schema.Int
}).annotate({ identifier: "RunPage", description: "One page of runs" })
export type RunPage = typeof RunPage.Type

/** The answer of `POST /runs` (http-details section 4.3). */
export const RunAccepted = Schema.Struct({
  runId: RunId,
  sessionId: Schema.String,
  status: RunStatus,
  traceId: Schema.String
}).annotate({
  identifier: "RunAccepted",
  description: "A created run; for a known idempotency key the original run with its current status"
})
export type RunAccepted = typeof RunAccepted.Type

/** The answer of `POST /runs/validate` (http-details section 4.4). */
export const RunValidation = Schema.Struct({
  valid: Schema.Boolean,
  errors: Schema.Array(Schema.String),
  warnings: Schema.Array(Schema.String),
  runtime: Schema.Struct({
    reachable: Schema.Boolean,
    supportedModes: Schema.Array(Schema.String),
    capabilities: optional(Schema.JsonObject)
  })
}).annotate({
  identifier: "RunValidation",
  description: "Whether a descriptor would be accepted, and what the runtime says about it"
})
export type RunValidation = typeof RunValidation.Type
