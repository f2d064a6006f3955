import { CANONICAL_EVENT_TYPES, RunMode, RunStatus } from "@runplane/domain"
import { alertOfRun } from "../alerts/AlertFields.ts"
import { auditQueryFields } from "../audit/AuditFields.ts"
import { decisionOfRun } from "../decisions/DecisionFields.ts"
import { telemetryOfRun } from "../ingest/TelemetryFields.ts"
import { markOfEvent, markOfRun, markQueryFields } from "../marks/MarkFields.ts"
import { type DescribedField, fast, slow, time } from "./DescribedField.ts"

/**
 * The fields of `GET /runs?q=`, by the names of the run record. The parser, the OpenAPI documents and the completion of
 * clients read this list; the fields of a feature are declared in its folder.
 */
export const runQueryFields: ReadonlyArray<DescribedField> = [
  { name: "id", type: "uuid", ...fast, description: "Id of the run" },
  { name: "status", type: "keyword", values: RunStatus.literals, ...fast, description: "Status of the run" },
  { name: "runtimeSessionId", type: "keyword", ...fast, description: "Id of its session" },
  { name: "traceId", type: "keyword", ...fast, description: "W3C trace id" },
  { name: "idempotencyKey", type: "keyword", ...fast, description: "Key that it was created with" },
  { name: "scenario", type: "keyword", ...fast, description: "Scenario that the run counts under" },
  { name: "sourceRef", type: "keyword", ...fast, description: "metadata.sourceRef" },
  { name: "scenarioRef", type: "keyword", ...fast, description: "metadata.scenarioRef, case ignored" },
  { name: "environment", type: "keyword", ...fast, description: "metadata.environment" },
  { name: "policyVersion", type: "keyword", ...fast, description: "Governance policy" },
  { name: "tags", type: "keyword", ...fast, description: "One of its tags" },
  { name: "participant", type: "keyword", ...fast, description: "Who took part: sent a message or a signal" },
  { name: "errorCode", type: "keyword", ...fast, description: "Why it failed" },
  { name: "metadata", type: "text", dotted: true, ...fast, description: "A text, number or flag of the metadata" },
  markOfRun,
  ...Object.values(telemetryOfRun),
  decisionOfRun.vote,
  decisionOfRun.dissent,
  decisionOfRun.model,
  decisionOfRun.case,
  alertOfRun,
  { name: "createdAt", ...time, ...fast, description: "When it was created" },
  { name: "updatedAt", ...time, ...fast, description: "When its record last changed" },
  { name: "endedAt", ...time, ...fast, description: "When it ended" },
  { name: "duration", type: "number", ...fast, description: "Milliseconds from its start to its end" },
  { name: "cost", type: "number", ...fast, description: "Estimated cost in US dollars" },
  { name: "tokens", type: "number", ...fast, description: "Prompt and completion tokens" },
  { name: "events", type: "number", ...fast, description: "Number of its events" },
  {
    name: "costRank",
    type: "number",
    ...slow,
    description: "Share of the runs of its scenario that cost less, 0 to 1; of scenarios with 10 runs or more"
  },
  {
    name: "durationRank",
    type: "number",
    ...slow,
    description: "Share of the runs of its scenario that were faster, 0 to 1; of scenarios with 10 runs or more"
  },
  { name: "startedAt", ...time, ...slow, description: "When it started running" },
  { name: "archivedAt", ...time, ...slow, description: "When it was archived" },
  {
    name: "archived",
    type: "flag",
    ...slow,
    description: "Whether it is archived; named, it replaces includeArchived"
  },
  { name: "mode", type: "keyword", values: RunMode.literals, ...slow, description: "live or sandbox" },
  { name: "modeName", type: "keyword", ...slow, description: "Mode of its session" },
  { name: "runtimeKind", type: "keyword", ...slow, description: "Kind of the runtime" },
  { name: "runtimeVersion", type: "keyword", ...slow, description: "Version of the runtime" },
  { name: "sourceKind", type: "keyword", ...slow, description: "metadata.source" },
  { name: "signals", type: "number", ...slow, description: "Number of its signals" },
  { name: "decisions", type: "number", ...slow, description: "Number of its decisions" },
  decisionOfRun.outcome,
  decisionOfRun.proposal,
  {
    name: "event",
    type: "keyword",
    values: CANONICAL_EVENT_TYPES,
    ...slow,
    description: "Type of an event that it has"
  }
]

/** The fields of `GET /events?q=` and `GET /events/stream?q=`. */
export const eventQueryFields: ReadonlyArray<DescribedField> = [
  { name: "seq", type: "number", ...fast, description: "Position in the log" },
  { name: "runId", type: "uuid", ...fast, description: "Id of the run" },
  { name: "type", type: "keyword", values: CANONICAL_EVENT_TYPES, ...fast, description: "What happened" },
  { name: "ts", ...time, ...fast, description: "When it happened" },
  { name: "index", type: "number", ...slow, description: "Position in the run: 1, 2, 3" },
  { name: "subjectKind", type: "keyword", ...slow, description: "Kind of what it is about, such as participant" },
  { name: "subjectId", type: "keyword", ...slow, description: "Id of what it is about" },
  { name: "sourceKind", type: "keyword", ...slow, description: "Where it comes from: runtime or control-plane" },
  { name: "sourceName", type: "keyword", ...slow, description: "Name of where it comes from" },
  { name: "sender", type: "keyword", ...slow, description: "Sender of the message of the event" },
  { name: "messageType", type: "keyword", ...slow, description: "Type of the message of the event" },
  { name: "data", type: "text", dotted: true, ...slow, description: "A text, number or flag of its data" },
  markOfEvent,
  { name: "scenario", type: "keyword", ...slow, description: "Scenario that its run counts under" },
  { name: "scenarioRef", type: "keyword", ...slow, description: "metadata.scenarioRef of its run, case ignored" },
  { name: "sourceRef", type: "keyword", ...slow, description: "metadata.sourceRef of its run" },
  { name: "environment", type: "keyword", ...slow, description: "metadata.environment of its run" },
  { name: "tags", type: "keyword", ...slow, description: "One of the tags of its run" }
]

/** What can be searched, with its fields. */
export const queryFields = {
  runs: runQueryFields,
  events: eventQueryFields,
  audit: auditQueryFields,
  marks: markQueryFields
} as const
export type QueryResource = keyof typeof queryFields

export const queryResources: ReadonlyArray<QueryResource> = ["runs", "events", "audit", "marks"]
