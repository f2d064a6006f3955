import type { FolderTables } from "./Rules.ts"

/** Files beside the folders of the event log that each of them may know. */
const LOG = [
  ...["CommittedEvent.ts", "ErasedRuns.ts", "EventRepository.ts", "EventLogSettings.ts", "ProcessChannel.ts"],
  ...["SessionOrder.ts", "StoredSalts.ts"]
]

/** The layers below every command. */
const LOG_AND_OBSERVERS = ["observe", "event-log", "platform"]

export const controlPlane: FolderTables = {
  "control-plane": {
    http: {
      meaning: "composition of the handlers, and the files of the console",
      knows: [...["admin", "streams", "queries", "runs", "marks", "reactors"], ...LOG_AND_OBSERVERS]
    },
    admin: {
      meaning: "health, drift, retention, policies, batches, processes, audit, counts of requests",
      knows: [...["features", "streams", "queries", "runs", "marks", "reactors"], ...LOG_AND_OBSERVERS],
      tables: ["processes", "request_budgets"]
    },
    features: {
      meaning: "one folder a feature; none knows another",
      knows: ["Feature.ts", "queries", "runs", "marks", ...LOG_AND_OBSERVERS]
    },
    streams: {
      meaning: "event streams of a run (also as AG-UI), of the log and of a replay",
      knows: ["queries", "event-log", "platform"],
      tables: ["stream_tickets"]
    },
    queries: {
      meaning: "one folder a page of the API that reads",
      knows: ["marks", "event-log", "platform"],
      reads: ["reactors"],
      tables: ["event_blocks", "views"]
    },
    marks: {
      meaning: "judgements beside the log: add, delete, definitions, their chain",
      knows: ["event-log", "platform"],
      tables: ["mark_chains", "mark_definitions", "marks"]
    },
    runs: {
      meaning: "commands: create, cancel, pause, claim, clone, delete",
      knows: LOG_AND_OBSERVERS
    },
    reactors: {
      meaning: "effects of a commit: tallies, traces, metrics",
      knows: ["event-log", "platform"],
      tables: [
        ...["key_event_tallies", "key_events", "removed_key_events", "run_labels", "run_participants", "run_tallies"],
        ...["tallied_key_events", "tallied_runs", "tally_changes"]
      ]
    },
    observe: {
      meaning: "observers of runs, watches of the runtime, placement of runs on processes",
      knows: ["event-log", "platform"],
      tables: ["late_cancels"]
    },
    "Feature.ts": {
      meaning: "the fields and the ports of a feature",
      knows: ["runs", "marks", "event-log", "platform"]
    },
    "event-log": {
      meaning: "append, projection, subscribe, seal, rows of runs",
      knows: ["platform"],
      tables: [
        ...["artifacts", "canonical_events", "deleted_sessions", "outbound_messages", "projections"],
        ...[
          "raw_events",
          "run_erasure_ends",
          "run_erasures",
          "run_heads",
          "run_metrics",
          "run_seals",
          "run_tombstones"
        ],
        ...["run_totals", "runs", "seal_key_statements", "seal_keys", "sessions"]
      ]
    },
    platform: {
      meaning: "parts without a subject of their own: the database, loops, metrics, the HTTP edge",
      knows: [],
      tables: ["audit_log", "ledger", "ledger_pending"]
    }
  },
  "control-plane/src/features": {
    alerts: { meaning: "rules over the log: evaluation, firings, commands", knows: [] },
    archive: { meaning: "files of the log, written by one process; reads of runs that only files have", knows: [] },
    committees: { meaning: "how independent the voters of runs are, and what each is worth", knows: [] },
    decisions: { meaning: "the decision of each run, for lists and searches", knows: [] },
    erasure: { meaning: "erasure of texts from a run, and jobs over many runs", knows: [] },
    evidence: { meaning: "one file that an auditor checks without the service", knows: [] },
    ingest: { meaning: "OpenTelemetry: receive spans, store them, make events of runs", knows: [] },
    mcp: { meaning: "the MCP endpoint, whose tools call this service in the process", knows: [] },
    receipts: { meaning: "receipts of decisions: read from the runtime, checked, recorded", knows: [] },
    webhooks: { meaning: "subscriptions, and the delivery of the outbox", knows: [] }
  },
  "control-plane/src/platform": {
    outbox: { meaning: "notifications to be delivered, in the transaction of what they report", knows: ["postgres"] },
    deployment: { meaning: "what a deployment chooses: redactor, prices, normaliser", knows: ["Sha256.ts"] },
    audit: {
      meaning: "the audit log, and samples of refused requests",
      knows: ["ledger", "http", "loop", "metrics", "postgres"]
    },
    ledger: { meaning: "the signed list of all seals and keys", knows: ["loop", "metrics", "postgres", "Sha256.ts"] },
    http: {
      meaning: "answers, list pages, callers, limits, the client of the runtime",
      knows: ["postgres", "ArchiveUnread.ts"]
    },
    loop: { meaning: "`forever`, and the names of all loops", knows: ["postgres"] },
    metrics: { meaning: "all metrics of the service", knows: [] },
    postgres: {
      meaning: "pool, migrations, leased rows, expiry, search conditions, batched reads, backups",
      knows: ["Sha256.ts"]
    },
    "ArchiveUnread.ts": { meaning: "the error of a file that cannot be read", knows: [] },
    "Sha256.ts": { meaning: "SHA-256 as the service writes it", knows: [] }
  },
  "control-plane/src/event-log": {
    append: {
      meaning: "one transaction a group of appends",
      knows: ["projection", "runs", "seal", "subscribe", ...LOG]
    },
    consume: { meaning: "readers of the whole log with a stored cursor", knows: ["subscribe", ...LOG] },
    erasure: {
      meaning: "the log and the rows of a run without erased texts",
      knows: ["projection", "runs", "seal", ...LOG]
    },
    projection: { meaning: "checkpoints, cache, replay", knows: LOG },
    runs: { meaning: "the rows of runs", knows: ["subscribe", "projection", ...LOG] },
    seal: { meaning: "hash chain, seals, keys", knows: LOG },
    subscribe: { meaning: "live events of this process, notices between processes", knows: LOG },
    "CommittedEvent.ts": { meaning: "an event as it is stored and served", knows: [] },
    "ErasedRuns.ts": { meaning: "runs that have lost texts, for the memory of the process", knows: [] },
    "EventRepository.ts": { meaning: "reads of events", knows: ["CommittedEvent.ts", "StoredSalts.ts"] },
    "EventLogSettings.ts": { meaning: "the settings", knows: [] },
    "ProcessChannel.ts": { meaning: "messages between processes", knows: [] },
    "SessionOrder.ts": { meaning: "the order of runs with one session id", knows: [] },
    "StoredSalts.ts": { meaning: "the column of the salts of a text", knows: [] }
  },
  "control-plane/src/observe": {
    sessions: {
      meaning: "the sessions of the runtime: directory, early subscriptions, idle checks",
      knows: ["decide", "ObservedRuns.ts", "ObserverSettings.ts", "SessionIds.ts"]
    },
    placement: { meaning: "the shards of this process", knows: ["ObserverSettings.ts"] },
    decide: { meaning: "the next step of an observer, as pure code", knows: ["ObserverSettings.ts"] },
    "ObservedRuns.ts": { meaning: "the rows of observed runs", knows: ["decide", "SessionIds.ts"] },
    "ObserverSettings.ts": { meaning: "the settings", knows: [] },
    "SessionIds.ts": { meaning: "session ids that a run can have", knows: [] }
  },
  "control-plane/src/queries": {
    marks: { meaning: "marks of all runs, agreement, records of agents", knows: ["decisions", "runs"] },
    compare: { meaning: "two runs side by side", knows: ["decisions", "runs", "RunWithState.ts"] },
    exports: { meaning: "a run as one document or as lines", knows: ["runs"] },
    traces: { meaning: "the trace of a run, and its received spans", knows: ["RunWithState.ts"] },
    prices: { meaning: "prices of models, and models without one", knows: ["runs"] },
    query: { meaning: "the query language over runs and events", knows: ["events", "runs"] },
    dashboard: { meaning: "the overview", knows: ["runs"] },
    decisions: { meaning: "forecast, why, divergence, what-if, backtest", knows: ["runs"] },
    events: { meaning: "events of a run and across runs", knows: ["runs"] },
    runs: { meaning: "lists, search and documents of runs", knows: [] },
    seals: { meaning: "seals and tombstones", knows: [] },
    views: { meaning: "saved searches", knows: [] },
    "RunWithState.ts": { meaning: "a run with a part of its state", knows: [] }
  }
}
