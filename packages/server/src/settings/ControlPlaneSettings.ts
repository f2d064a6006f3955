import { MIN_HEARTBEAT_MS } from "@runplane/api"
import { developmentRow, row, settingsOf } from "./Setting.ts"
import {
  archiveAddress,
  cellName,
  databaseAddress,
  flag,
  httpAddress,
  listenPort,
  oneOf,
  path,
  secretText,
  text,
  wholeNumber,
  word
} from "./SettingTypes.ts"

/** A number of the control plane: a text that is not a number counts as unset. */
const lenient = (unit: string, min = 0) => wholeNumber({ unit, min, whenBad: "stop-out-of-bounds" })
const bytes = (min: number) => lenient("bytes", min)
const ms = (min = 0) => lenient("milliseconds", min)

/** A day in milliseconds. */
const DAY = 86_400_000

/** What the control plane reads, beside `ServiceSettings` and `RuntimeSettings`. */
export const ControlPlaneSettings = settingsOf(["control-plane"], {
  PORT: row(listenPort("stop-out-of-bounds"), 3001, "Port to listen on; 0 takes a free one."),

  DATABASE_URL: row(databaseAddress, "postgresql://postgres@127.0.0.1:5432/runplane", "The PostgreSQL database.", {
    secret: true
  }),
  DATABASE_PASSWORD: row(
    text,
    undefined,
    "Password of the role, as it is, when `DATABASE_URL` has none: no character needs percent-encoding.",
    { secret: true }
  ),
  DATABASE_TLS_CA_FILE: row(
    path,
    undefined,
    "PEM file with the authorities that vouch for the database; with it the default of `sslmode` is `verify-full`."
  ),
  DB_POOL_MAX: row(lenient("connections", 1), 20, "Connections in the pool; in production at least 2."),
  DB_POOL_IDLE_TIMEOUT: row(ms(), 30_000, "How long an unused connection stays open; 0: for ever."),
  DB_POOL_CONNECTION_TIMEOUT: row(ms(1), 5_000, "How long to wait for a connection, free or new."),
  DB_LOCK_TIMEOUT_MS: row(ms(), 10_000, "Longest wait of a statement for a lock; 0 waits for ever."),
  DB_STATEMENT_TIMEOUT_MS: row(ms(), 120_000, "Longest run of a statement; 0 lets it run for ever."),
  DB_IDLE_IN_TRANSACTION_TIMEOUT_MS: row(
    ms(),
    60_000,
    "How long a transaction of the service may do nothing before the database ends it; 0 lets it."
  ),

  MIGRATE_ON_START: row(
    flag,
    true,
    "Whether the start applies the migrations; `false` leaves that to `runplane migrate`."
  ),

  THROTTLE_STORE: row(
    oneOf(["memory", "postgres"]),
    "memory",
    "Whether each process counts the requests of a client for itself, or all on the database count together."
  ),

  LOG_BUFFER_BYTES: row(
    bytes(65_536),
    16_777_216,
    "Frames that the process holds before they are stored; behind them the runtime is slowed down."
  ),
  LOG_RUN_BUFFER_BYTES: row(bytes(65_536), 4_194_304, "The share of these that one run may use."),
  LOG_APPEND_BYTES: row(bytes(4_096), 1_048_576, "Frames of a run that are stored at a time."),
  LOG_GROUP_BYTES: row(bytes(4_096), 1_048_576, "Frames of all runs that share a transaction."),
  LOG_OLDEST_APPEND_MS: row(
    ms(1),
    10_000,
    "How long an addition to the log may wait before the service counts as degraded."
  ),

  SESSION_POLL_BASE_MS: row(ms(1), 100, "First pause between two polls for the session of a run; it doubles."),
  SESSION_POLL_MAX_MS: row(ms(1), 1_000, "Longest pause between two polls for the session of a run."),
  SESSION_POLL_TIMEOUT_MS: row(ms(), 60_000, "How long a run waits for its initiator to open the session."),
  SESSION_POLICY_TIMEOUT_MS: row(
    ms(1),
    2_000,
    "How long the runtime may take to return a session's policy before the run is bound without its rules on record."
  ),
  SESSION_DISCOVERY_ENABLED: row(flag, true, "Whether sessions without a descriptor become runs."),
  SESSION_DISCOVERY_GRACE_MS: row(
    ms(),
    1_000,
    "How long an unknown session waits for its `POST /runs` before it becomes a discovered run."
  ),
  SESSION_RECONCILE_INTERVAL_MS: row(
    ms(),
    60_000,
    "How often the sessions that the runtime lists are compared with the runs, to find missed ones; 0: never."
  ),
  SESSION_RECONCILE_ENDED_MS: row(
    wholeNumber({ unit: "milliseconds", min: 0, max: 2_505_600_000, whenBad: "stop-out-of-bounds" }),
    604_800_000,
    "How long ago a session may have begun that has ended without a run and is still read from the listing, as after a " +
      "restore: at most 29 days; 0: never."
  ),
  SIGNAL_BUFFER_BYTES: row(
    lenient("bytes", 65_536),
    16_777_216,
    "Signals that may wait for the database; beyond it the runtime waits, and drops signals before long."
  ),
  SESSION_LOST_AFTER_MS: row(
    ms(),
    15_000,
    "How long the runtime says NOT_FOUND of a bound session before its run fails with `SESSION_LOST`; 0: never."
  ),
  SESSION_END_CHECK_DELAY_MS: row(
    ms(),
    500,
    "How long after a session's deadline or Commitment the session is read from the runtime to see whether it ended."
  ),
  RUN_RECOVERY_ENABLED: row(
    flag,
    true,
    "Whether unfinished runs that no process observes are adopted; equal in all processes."
  ),
  RUN_TAKE_UP_CONCURRENCY: row(lenient("runs", 1), 64, "Runs that are adopted at the same time after a start."),
  RUN_TAKE_UP_PATIENCE_MS: row(ms(), 2_000, "How long a run that cannot be adopted delays the others."),
  RUN_TAKE_OVER_INTERVAL_MS: row(ms(), 5_000, "How often such runs are searched; 0: only at the start."),

  CLUSTER_LEASE_MS: row(ms(3_000), 10_000, "How long a process that does not respond keeps its runs."),
  CLUSTER_LOOK_INTERVAL_MS: row(ms(50), 500, "How often a process reads which others are on the database."),

  STREAM_IDLE_TIMEOUT_MS: row(
    ms(),
    120_000,
    "Silence of a stream after which the observer queries the session for missing messages; 0: never."
  ),
  STREAM_MAX_RETRIES: row(lenient("attempts"), 5, "Attempts in a row to open a stream before its run fails."),
  STREAM_BACKOFF_BASE_MS: row(ms(1), 250, "First pause before a broken stream is opened again; it doubles."),
  STREAM_BACKOFF_MAX_MS: row(ms(1), 30_000, "Longest pause before a broken stream is opened again."),
  STREAM_DRAIN_TIMEOUT_MS: row(
    ms(),
    2_000,
    "How long an ended session may take to deliver the next frame of its history."
  ),
  STREAM_LONGEST_DRAIN_MS: row(ms(), 30_000, "How long the observer waits for an ended session without new envelopes."),
  STREAM_SSE_HEARTBEAT_MS: row(
    ms(MIN_HEARTBEAT_MS),
    15_000,
    "Pause between two heartbeats of an event stream, unless its client requests another."
  ),
  STREAM_MAX: row(lenient("streams", 1), 2_000, "Event streams that a process serves at a time; more are 503."),
  STREAM_MAX_PER_KEY: row(
    lenient("streams", 1),
    200,
    "Event streams that a key, or an address without one, may have open at a time in a process; more are 429."
  ),
  STREAM_SNAPSHOT_INTERVAL_MS: row(
    ms(10),
    100,
    "Least time between two snapshots of an event stream; the last state is always sent."
  ),
  WATCH_RECONNECT_MS: row(
    ms(1),
    5_000,
    "Longest pause before a broken watch of all sessions or signals is opened again."
  ),

  PROJECTION_CHECKPOINT_EVENTS: row(
    lenient("events", 1),
    250,
    "Events that the stored state of a run may lag behind its log; readers fold the rest."
  ),
  PROJECTION_CHECKPOINT_INTERVAL_MS: row(ms(), 1_000, "Age from which a stored state is written with the next events."),
  PROJECTION_CACHE_BYTES: row(
    lenient("bytes"),
    64 * 1024 * 1024,
    "Memory for the states of the runs that were written last."
  ),

  DECISION_CONCURRENCY: row(
    lenient("answers", 1),
    2,
    "Answers about decisions (forecast, why, what-if, backtest, divergence) of a caller that are made at a time; others wait."
  ),
  RECEIPT_RETRY_WINDOW_MS: row(
    ms(),
    DAY,
    "How long the receipt of a resolved session is requested from a runtime that issues them; 0: not at all."
  ),
  REPLAY_MAX_DELAY_MS: row(ms(), 2_000, "Longest pause between two events of a timed replay."),
  REPLAY_BATCH_SIZE: row(lenient("events", 1), 500, "Events that a replay reads at a time."),

  CANCEL_CALLBACK_TIMEOUT_MS: row(ms(1), 5_000, "How long an initiator may take to answer a request to cancel."),
  CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS: row(
    flag,
    true,
    "Whether cancel requests may go to loopback and private addresses."
  ),

  WEBHOOK_TIMEOUT_MS: row(ms(1), 10_000, "Time for one attempt, name resolution and connection included."),
  WEBHOOK_RETRY_BASE_MS: row(ms(1), 1_000, "Pause after the first failed attempt; it doubles."),
  WEBHOOK_RETRY_MAX_MS: row(ms(1), 3_600_000, "Longest pause between two attempts."),
  WEBHOOK_RETRY_WINDOW_MS: row(ms(), DAY, "How long a delivery is tried before it is given up."),
  WEBHOOK_CONCURRENCY: row(
    lenient("attempts", 1),
    4,
    "Attempts under way at the same time for one subscription, each of another run."
  ),
  WEBHOOK_TOTAL_CONCURRENCY: row(
    lenient("attempts", 1),
    64,
    "Attempts under way at the same time in one process, of alerts, and as many of all other events."
  ),
  WEBHOOK_POLL_MS: row(ms(1), 1_000, "Pause between two polls for deliveries that other processes have left."),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: developmentRow(flag, "Whether webhooks may go to loopback and private addresses."),

  // A guess here would delete data, so nothing is lenient.
  DATA_RETENTION_ENABLED: row(flag, false, "Whether old runs, audit entries, deliveries and alerts are deleted."),
  DATA_RETENTION_TTL_DAYS: row(wholeNumber({ unit: "days", min: 1 }), 30, "How long they are kept."),
  DATA_RETENTION_INTERVAL_HOURS: row(wholeNumber({ unit: "hours", min: 1 }), 24, "Pause between two sweeps."),
  DATA_RETENTION_BATCH_SIZE: row(wholeNumber({ unit: "runs", min: 1 }), 500, "Most runs that one transaction deletes."),

  RETENTION_REQUIRES_ARCHIVE: row(
    flag,
    false,
    "Whether retention deletes a run only when the archive has all of it; needs `ARCHIVE_URL`."
  ),

  ARCHIVE_URL: row(
    archiveAddress,
    undefined,
    "Where the log is archived: `file:///directory` or `s3://bucket/prefix`; unset: nowhere."
  ),
  ARCHIVE_CELL: row(cellName, "main", "Names this database in the files of the archive; it cannot change later."),
  ARCHIVE_INTERVAL_MS: row(ms(1_000), 60_000, "Longest time that an event waits for a file of the archive."),
  ARCHIVE_FILE_ROWS: row(lenient("events", 1), 100_000, "Most events of a file of the archive."),
  ARCHIVE_FILE_BYTES: row(
    bytes(65_536),
    67_108_864,
    "Most bytes of events in a file of the archive, before compression; the process holds them compressed."
  ),
  AWS_ACCESS_KEY_ID: row(word, undefined, "Access key of the bucket of `ARCHIVE_URL`."),
  AWS_SECRET_ACCESS_KEY: row(secretText, undefined, "Its secret.", { secret: true }),
  AWS_SESSION_TOKEN: row(secretText, undefined, "Token of temporary credentials.", { secret: true }),
  AWS_REGION: row(word, "us-east-1", "Region of the bucket."),
  AWS_ENDPOINT_URL: row(httpAddress, undefined, "Address of a store that is not AWS, such as MinIO."),

  OTLP_INGEST_ENABLED: row(flag, undefined, "Whether `POST /v1/traces` and `/v1/logs` receive OpenTelemetry.", {
    shownDefault: "true with API keys, with an issuer, or on the loopback, else false"
  }),
  OTLP_GRPC_PORT: row(
    listenPort(),
    undefined,
    "Port on which exports are received by gRPC; 0 receives none. When the default port is in use, the service starts without.",
    { shownDefault: "4317 where telemetry is received" }
  ),
  OTLP_MAX_BODY_BYTES: row(
    bytes(1_024),
    20_971_520,
    "Largest body of an export as sent; inflated it may have eight times as many bytes, up to 32 MiB."
  ),
  OTLP_INBOX_BYTES: row(
    bytes(65_536),
    67_108_864,
    "Received spans and log records that may wait for their runs, in all processes together; more are 503."
  ),
  OTLP_EXPORT_LIMIT: row(
    wholeNumber({ unit: "exports", min: 1 }),
    60_000,
    "Exports that a client may send in one window of `THROTTLE_TTL_MS`; one counts once for each started 16 KiB of its inflated body."
  ),
  OTLP_TRACES_PER_REQUEST: row(
    wholeNumber({ unit: "traces", min: 1 }),
    5_000,
    "Traces of one export; spans and log records of further ones are rejected."
  ),
  OTLP_NEW_TRACES_PER_MINUTE: row(
    wholeNumber({ unit: "traces", min: 1 }),
    10_000,
    "New traces that a source may send in one minute; an export with more is answered with 429 and sent again later."
  ),
  OTLP_SETTLE_MS: row(
    ms(),
    5_000,
    "How long a trace is silent before spans without a known agent are assigned, and before a run with an ended root ends."
  ),
  OTLP_IDLE_MS: row(ms(1), 180_000, "Silence after which a run without an ended root ends."),
  OTLP_PARENT_WAIT_MS: row(
    ms(1),
    900_000,
    "The same where a span names a parent that has not come: an agent waits for a person, a queue or a long tool."
  ),
  OTLP_RUN_KEY: row(text, "", "Attribute whose value joins traces into one run, like `runplane.run.key`; empty: none."),
  OTLP_CONTENT: row(
    oneOf(["keep", "drop"]),
    "keep",
    "Whether messages, arguments and results of spans are stored; `drop` removes them before anything is stored."
  ),
  OTLP_KEEP_USER: row(flag, false, "Whether the attribute `user.id` is stored in the metadata of a run."),
  OTLP_TRUTH: row(
    oneOf(["off", "own", "all"]),
    "own",
    "Whether results of evaluations named `correct` are the truth about decisions: of runs that were received as telemetry (`own`), of all runs, of none."
  ),
  OTLP_MAX_STATED_COST_USD: row(
    wholeNumber({ unit: "US dollars", min: 1 }),
    100,
    "Largest cost of one call that a span may state; a larger one is shown as stated, and counts nowhere."
  ),
  OTLP_JOINED_USAGE: row(
    oneOf(["on", "off"]),
    "off",
    "Whether tokens of spans count in the run of a session that they joined by `macp.session.id`."
  ),

  MCP_ENABLED: row(flag, true, "Whether `POST /mcp` serves assistants that speak the Model Context Protocol."),
  MCP_CONFIRM: row(
    oneOf(["token", "human", "none"]),
    "token",
    "How assistants confirm what stops or starts something: a token of the first step, only a person, or not at all."
  ),
  MCP_MAX_CONCURRENCY: row(
    wholeNumber({ unit: "calls", min: 1 }),
    4,
    "Most calls of tools at a time for one key; more are refused."
  ),
  MCP_MAX_RESULT_BYTES: row(
    bytes(20_000),
    40_000,
    "Most bytes of an answer of a tool, its text and its structured part together."
  ),

  CONTROL_PLANE_PUBLIC_URL: row(
    httpAddress,
    undefined,
    "This service as browsers reach it, for the links of alerts; without it they have none."
  ),
  LAUNCHER_KEY_NAME: row(word, "launcher", "Name in `AUTH_API_KEY_NAMES` of the key that records answers of people."),
  LAUNCHER_PUBLIC_URL: row(
    httpAddress,
    undefined,
    "The launch service as browsers reach it; without it the console has no launch pages."
  ),

  PROTO_REDACT_PATTERNS: row(
    text,
    "",
    "Regular expressions between commas of texts to be redacted before they are stored; one that is not valid is skipped."
  ),
  PROTO_TOKEN_PRICING_FILE: row(
    path,
    undefined,
    "JSON file with the deployment's own prices of models; its prices win over all others."
  ),
  MODEL_PRICE_CATALOGUE: row(
    flag,
    true,
    "Whether models that neither the price file nor the built-in table has are priced by the catalogue of real models."
  ),
  MODEL_PRICES_FILE: row(
    path,
    undefined,
    "JSON file in the data form of `@pydantic/genai-prices`, version 2; it replaces the bundled catalogue of real models. `runplane prices update` writes one.",
    { showsDate: true }
  ),

  SEAL_PRIVATE_KEY_FILE: row(
    path,
    undefined,
    "PEM file with the Ed25519 private key that seals ended runs; without it seals are unsigned."
  ),
  SEAL_PREVIOUS_KEY_FILE: row(
    path,
    undefined,
    "PEM file with the key that `SEAL_PRIVATE_KEY_FILE` replaced: it signs the change, at one start."
  ),
  SEAL_HEADS_FILE: row(
    path,
    undefined,
    "File that gets each seal, and each entry of the ledger, as a JSON line: a copy outside of the database."
  ),

  EVIDENCE_TSA_URL: row(
    httpAddress,
    undefined,
    "Address of a time-stamping authority (RFC 3161), which stamps the manifest of each evidence bundle; unset: none."
  ),

  OTEL_SERVICE_NAME: row(text, "run-control-plane", "Name of the service in traces."),
  OTEL_SEMCONV_STABILITY_OPT_IN: row(
    text,
    "",
    "With `gen_ai_latest_experimental` among its values, spans of model calls follow the GenAI conventions."
  )
})
