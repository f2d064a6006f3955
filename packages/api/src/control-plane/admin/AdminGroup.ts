import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { setLogLevel } from "../../service/LogLevel.ts"
import { RUNPLANE_VERSION } from "../../Version.ts"
import { bodySchema, querySchema } from "../../validation/RequestSchema.ts"
import { JoinToken, JoinTokenRequest } from "../ingest/JoinTokens.ts"

const CircuitState = Schema.Literals(["CLOSED", "OPEN", "HALF_OPEN"]).annotate({
  description: "OPEN refuses calls to the runtime; HALF_OPEN lets one through to try"
})

export const CircuitBreakerReset = Schema.Struct({
  status: Schema.Literal("ok").annotate({ description: "Always ok" }),
  state: Schema.Literal("CLOSED").annotate({ description: "The state it is in now" })
}).annotate({ identifier: "CircuitBreakerReset", description: "The breaker is closed" })

/** States that the breaker of this process entered, oldest first (docs/reference/admin.md#breaker-history). */
export const CircuitBreakerHistory = Schema.Struct({
  state: CircuitState,
  history: Schema.Array(
    Schema.Struct({
      state: CircuitState,
      enteredAt: Field.time("When it was entered"),
      reason: Field.text("Why", "5 consecutive failures")
    })
  ).annotate({ description: "The states it entered, oldest first" })
}).annotate({
  identifier: "CircuitBreakerHistory",
  description: "At most the last 200 states, oldest first; kept by one process and lost with it"
})
export type CircuitBreakerHistory = typeof CircuitBreakerHistory.Type

/** The start and the state of this process (docs/reference/admin.md#process). */
export const ProcessInfo = Schema.Struct({
  version: Field.text("Version of the service", RUNPLANE_VERSION),
  startedAt: Field.time("When the process began to serve"),
  observedRuns: Field.integer("Runs that this process observes now"),
  settings: Schema.Array(
    Schema.Struct({
      name: Field.text("Name of the setting", "PORT"),
      value: Field.text("Its value; masked for a secret", "3001"),
      isDefault: Field.flag("Whether it is not set"),
      isSecret: Field.flag("Whether its value is masked"),
      meaning: Field.text("What it does")
    })
  ).annotate({ description: "Every setting of the service, in the order of docs/reference/settings.md" })
}).annotate({ identifier: "ProcessInfo", description: "One process of the service: the one that answers" })
export type ProcessInfo = typeof ProcessInfo.Type

/** One process of the service, by its own word (docs/reference/admin.md#processes). */
export const ProcessReport = Schema.Struct({
  name: Field.text("Host and process id", "runplane-7c9d:17"),
  isThis: Field.flag("Whether it is the one that answers"),
  version: Field.text("Version of the service", RUNPLANE_VERSION),
  startedAt: Field.time("When the process began to serve"),
  seenAt: Field.time("When it said this; every process does so every 5 s"),
  shards: Field.integer("Shards of runs that are its own to observe"),
  observedRuns: Field.integer("Runs that it observes"),
  oldestAppendMs: Field.integer("Age of the oldest write to the log that waits, milliseconds; 0 when none does"),
  reconnects: Field.integer("Repeated subscriptions to session streams since its start")
}).annotate({ identifier: "ProcessReport", description: "One process of the service and what it observes" })
export type ProcessReport = typeof ProcessReport.Type

/** Every process on the database. */
export const ProcessReports = Schema.Struct({
  data: Schema.Array(ProcessReport).annotate({ description: "Those that are there, the oldest first" })
}).annotate({ identifier: "ProcessReports", description: "The processes of the service on one database" })

/** The span inbox by source (docs/reference/ingest.md#turns). */
export const IngestReport = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      source: Field.text("Name of the key that sends", "team"),
      waiting: Field.integer("Spans and log records that wait for their runs"),
      waitingBytes: Field.integer("Their bytes"),
      lagSeconds: Field.number("How long the oldest of them has waited")
    })
  ).annotate({ description: "Sources of which something waits" })
}).annotate({ identifier: "IngestReport", description: "What waits in the span inbox, by source" })
export type IngestReport = typeof IngestReport.Type

/** The archive of the database (docs/reference/archive.md#operation). */
export const ArchiveReport = Schema.Struct({
  archive: Schema.NullOr(
    Schema.Struct({
      url: Field.text("Where it is, without credentials", "s3://runs/prod"),
      cell: Field.text("Name of the database in its files", "main"),
      writtenSeq: Field.integer("The events up to this position are in files"),
      lagEvents: Field.integer("Positions of the log behind it, up to the watermark"),
      lagSeconds: Field.number("How long the oldest of these events has waited"),
      waitingChanges: Field.integer("Ended runs and marks that changed since they were written"),
      retentionWaits: Schema.NullOr(Schema.Int).annotate({
        description: "Expired runs that retention keeps until they are archived; null unless it requires the archive"
      }),
      tables: Schema.Array(
        Schema.Struct({
          table: Schema.Literals(["events", "runs", "marks", "tombstones"]).annotate({ description: "Directory" }),
          files: Field.integer("Its files"),
          rows: Field.integer("Their rows"),
          bytes: Field.integer("Their bytes")
        })
      ).annotate({ description: "What is in files, by table" }),
      lastFile: Schema.NullOr(
        Schema.Struct({
          path: Field.text(
            "Its path in the archive",
            "events/dt=2026-11-26/main-0000000000000001-0000000000020000.parquet"
          ),
          rows: Field.integer("Its rows"),
          bytes: Field.integer("Its bytes"),
          writtenAt: Field.time("When it was written")
        })
      ).annotate({ description: "The file that was written last; null before the first" }),
      failure: Schema.NullOr(
        Schema.Struct({
          since: Field.time("When it began"),
          kind: Field.text("full, refused, clock, unreachable, missing, unreadable or failed", "unreachable"),
          message: Field.text("What the store said")
        })
      ).annotate({ description: "Why no file is written; null while files are written" })
    })
  ).annotate({ description: "null while the database has no archive" })
}).annotate({ identifier: "ArchiveReport", description: "The archive of the database, for operators" })
export type ArchiveReport = typeof ArchiveReport.Type

/** What the runtime and the run records disagree on (docs/reference/admin.md#drift). */
export const DriftReport = Schema.Struct({
  complete: Field.flag("False when the listing was cut by its page cap or time-out"),
  runtimeSessionCount: Field.integer("All listed sessions, ended ones included"),
  liveRuntimeSessionCount: Field.integer("Listed sessions that are OPEN or SUSPENDED"),
  trackedRunCount: Field.integer("Unfinished runs that are bound to a session"),
  untrackedSessions: Schema.Array(
    Schema.Struct({
      sessionId: Field.text("Id of the session"),
      mode: Field.text("Its mode", "macp.mode.decision.v1"),
      state: Field.text("Its state, in the runtime's words", "SESSION_STATE_OPEN")
    })
  ).annotate({ description: "Live sessions that no unfinished run belongs to" }),
  missingFromRuntime: Schema.NullOr(
    Schema.Array(
      Schema.Struct({ runId: Field.text("Id of the run"), runtimeSessionId: Field.text("The session it is bound to") })
    )
  ).annotate({ description: "Bound runs whose session is not live; null when the listing is not complete" })
}).annotate({ identifier: "DriftReport", description: "Differences of sessions and runs; nothing is repaired" })
export type DriftReport = typeof DriftReport.Type

/** An unknown window, or a `since` that is not a date, filters nothing: the console may send other windows. */
export const circuitHistoryQuery = querySchema({
  window: Schema.optionalKey(Field.text("1h, 6h, 24h or 7d; another value filters nothing", "24h")),
  since: Schema.optionalKey(
    Field.text("ISO 8601; wins over window; what is not a date filters nothing", "2026-07-01T10:00:00.000Z")
  )
})
export type CircuitHistoryQuery = typeof circuitHistoryQuery.Type

/** Operation of the service. */
export class AdminGroup extends HttpApiGroup.make("admin")
  .add(
    HttpApiEndpoint.post("resetCircuitBreaker", "/admin/circuit-breaker/reset", {
      success: CircuitBreakerReset
    }).annotateMerge(
      operation({
        id: "resetCircuitBreaker",
        access: "admin",
        summary: "Close the runtime's circuit breaker by hand",
        description: "Calls to the runtime go through again at once, in this process."
      })
    ),
    HttpApiEndpoint.get("circuitBreakerHistory", "/admin/circuit-breaker/history", {
      query: circuitHistoryQuery,
      success: CircuitBreakerHistory
    }).annotateMerge(
      operation({
        id: "getCircuitBreakerHistory",
        access: "viewer",
        summary: "Read the states of the circuit breaker",
        description: "At most the last 200 states that the breaker of this process entered, and the one it is in."
      })
    ),
    HttpApiEndpoint.get("process", "/admin/process", { success: ProcessInfo }).annotateMerge(
      operation({
        id: "getProcess",
        access: "admin",
        summary: "Read how the service was started",
        description:
          "Version, start, observed runs and every setting in force of the process that answers. Secrets are masked."
      })
    ),
    HttpApiEndpoint.get("archive", "/admin/archive", {
      success: ArchiveReport
    }).annotateMerge(
      operation({
        id: "getArchive",
        access: "viewer",
        summary: "Read the state of the archive",
        description: "How far the archive is behind the log, what it has, and why no file is written."
      })
    ),
    HttpApiEndpoint.get("ingest", "/admin/ingest", { success: IngestReport }).annotateMerge(
      operation({
        id: "getIngest",
        access: "viewer",
        summary: "Read what waits of each source of telemetry",
        description:
          "The spans and log records in the span inbox by source, the source that has waited the longest first."
      })
    ),
    HttpApiEndpoint.post("issueToken", "/ingest/tokens", {
      payload: bodySchema(JoinTokenRequest, { unknownKeys: "reject" }),
      success: JoinToken.pipe(HttpApiSchema.status(201))
    }).annotateMerge(
      operation({
        id: "issueJoinToken",
        access: "operator",
        summary: "Issue a token that lets spans join the run of a session",
        description:
          "For the program that starts the agents of a session, before or after its run is posted. Exports with the token " +
          "join the run of that session, whatever their source; everything else about them needs a key as before. It is " +
          "not stored."
      })
    ),
    HttpApiEndpoint.get("processes", "/admin/processes", { success: ProcessReports }).annotateMerge(
      operation({
        id: "listProcesses",
        access: "viewer",
        summary: "List the processes and what each observes",
        description:
          "All that are there, the one that answers as it is now, the others as they were at `seenAt`, a few seconds ago."
      })
    ),
    HttpApiEndpoint.get("runtimeSessions", "/admin/runtime/sessions", {
      success: DriftReport,
      error: [Failure.DriftUnavailable, ...Failure.runtimeReached, Failure.RuntimeTimeout]
    }).annotateMerge(
      operation({
        id: "getDriftReport",
        access: "viewer",
        summary: "Compare the runtime's sessions with the runs",
        description:
          "Reads only, repairs nothing. The two sides are not read in one moment, so a run that is being bound can show up " +
          "for a while. A failed listing is an error, never an empty report."
      })
    ),
    setLogLevel
  )
  .annotateMerge(tag("Administration", "Operation of the service")) {}
