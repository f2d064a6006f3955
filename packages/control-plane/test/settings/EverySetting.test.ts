import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { settingNames, settingsOfProgram } from "@runplane/server"
import * as Effect from "effect/Effect"
import { check } from "./Check.ts"
import { validate } from "./Validate.ts"

const PASSWORD = "hunter2"

/** A value that each setting cannot have, and what is said of it. Where any text is good there is none. */
const badValues: Readonly<Record<string, readonly [value: string, problem: string]>> = {
  PORT: ["-1", 'must be a whole number from 0 to 65535, got "-1"'],
  HOST: ["http://here", 'must be a host name or an address, got "http://here"'],
  CORS_ORIGIN: [
    "https://good.example, https://bad.example/",
    'must be origins such as https://console.example, got "https://bad.example/"'
  ],
  AUTH_API_KEYS: [`${PASSWORD}\u0007`, "must consist of printable ASCII characters"],
  ALLOWED_HOSTS: ["https://runs.example/", 'must be host names, got "https://runs.example/"'],
  AUTH_API_KEY_ROLES: [
    `${PASSWORD},admin`,
    "must be roles for the keys, in their order: ingest, viewer, operator, admin, voter"
  ],
  OIDC_ISSUER: [
    `https://user:${PASSWORD}@login.example`,
    "must be an address starting with https://, or http:// on the loopback, without user, query and fragment"
  ],
  OIDC_ROLE_CLAIM: ["two words", 'must be one word, got "two words"'],
  OIDC_GROUPS_CLAIM: ["two words", 'must be one word, got "two words"'],
  LAUNCHER_KEY_NAME: ["two words", 'must be one word, got "two words"'],
  THROTTLE_STORE: ["redis", 'must be one of memory, postgres, got "redis"'],
  SHUTDOWN_DELAY_MS: ["600001", 'must be a whole number from 0 to 600000, got "600001"'],
  OTLP_GRPC_PORT: ["x", 'must be a whole number from 0 to 65535, got "x"'],
  OTLP_MAX_BODY_BYTES: ["1000", 'must be a whole number of at least 1024, got "1000"'],
  OTLP_INBOX_BYTES: ["1000", 'must be a whole number of at least 65536, got "1000"'],
  OTLP_EXPORT_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTLP_TRACES_PER_REQUEST: ["0", 'must be a whole number of at least 1, got "0"'],
  OTLP_NEW_TRACES_PER_MINUTE: ["many", 'must be a whole number of at least 1, got "many"'],
  OTLP_SETTLE_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  OTLP_IDLE_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  OTLP_PARENT_WAIT_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  OTLP_CONTENT: ["hash", 'must be one of keep, drop, got "hash"'],
  OTLP_TRUTH: ["some", 'must be one of off, own, all, got "some"'],
  OTLP_MAX_STATED_COST_USD: ["-1", 'must be a whole number of at least 1, got "-1"'],
  OTLP_JOINED_USAGE: ["true", 'must be one of on, off, got "true"'],
  MCP_CONFIRM: ["never", 'must be one of token, human, none, got "never"'],
  MCP_MAX_CONCURRENCY: ["0", 'must be a whole number of at least 1, got "0"'],
  MCP_MAX_RESULT_BYTES: ["8000", 'must be a whole number of at least 20000, got "8000"'],
  STREAM_MAX: ["0", 'must be a whole number of at least 1, got "0"'],
  STREAM_MAX_PER_KEY: ["0", 'must be a whole number of at least 1, got "0"'],
  AUTH_FAILURE_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  AUTH_API_KEY_NAMES: [`${PASSWORD}!`, "must be names of letters, digits and . _ @ - for the keys, in their order"],
  DATABASE_URL: [
    `mysql://user:${PASSWORD}@host/database`,
    "must be an address starting with postgres:// or postgresql://"
  ],
  DB_POOL_MAX: ["0", 'must be a whole number of at least 1, got "0"'],
  DB_POOL_IDLE_TIMEOUT: ["1.5", 'must be a whole number of at least 0, got "1.5"'],
  DB_POOL_CONNECTION_TIMEOUT: ["0", 'must be a whole number of at least 1, got "0"'],
  RUNTIME_KIND: ["two words", 'must be one word, got "two words"'],
  RUNTIME_ADDRESS: [`user:${PASSWORD}@host:50051`, "must be host:port"],
  RUNTIME_BEARER_TOKEN: [`${PASSWORD}\nx`, "must consist of printable ASCII characters"],
  RUNTIME_DEV_AGENT_ID: ["two words", 'must be one word, got "two words"'],
  PROTO_AUTH_SERVICE_URL: [`ftp://user:${PASSWORD}@host`, "must be an address starting with http:// or https://"],
  PROTO_AUTH_SERVICE_TIMEOUT_MS: ["soon", 'must be a whole number of at least 1, got "soon"'],
  PROTO_AUTH_TOKEN_TTL_SECONDS: ["0", 'must be a whole number of at least 1, got "0"'],
  RUNTIME_REQUEST_TIMEOUT_MS: ["-5", 'must be a whole number of at least 1, got "-5"'],
  RUNTIME_CIRCUIT_BREAKER_THRESHOLD: ["0", 'must be a whole number of at least 1, got "0"'],
  RUNTIME_CIRCUIT_BREAKER_RESET_MS: ["x", 'must be a whole number of at least 1, got "x"'],
  RUNTIME_LIST_SESSIONS_PAGE_SIZE: ["0", 'must be a whole number of at least 1, got "0"'],
  RUNTIME_LIST_SESSIONS_MAX_PAGES: ["-5", 'must be a whole number of at least 1, got "-5"'],
  RUNTIME_LIST_SESSIONS_TIMEOUT_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  RUNTIME_MAX_RECEIVE_MESSAGE_BYTES: ["16MB", 'must be a whole number of at least 1, got "16MB"'],
  RUNTIME_MAX_SEND_MESSAGE_BYTES: ["0", 'must be a whole number of at least 1, got "0"'],
  RUNTIME_STREAM_BUFFER_BYTES: ["0", 'must be a whole number of at least 1, got "0"'],
  DB_LOCK_TIMEOUT_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  DB_STATEMENT_TIMEOUT_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  DB_IDLE_IN_TRANSACTION_TIMEOUT_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  LOG_BUFFER_BYTES: ["1000", 'must be a whole number of at least 65536, got "1000"'],
  LOG_RUN_BUFFER_BYTES: ["1000", 'must be a whole number of at least 65536, got "1000"'],
  LOG_APPEND_BYTES: ["1000", 'must be a whole number of at least 4096, got "1000"'],
  LOG_GROUP_BYTES: ["1000", 'must be a whole number of at least 4096, got "1000"'],
  LOG_OLDEST_APPEND_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  SESSION_POLL_BASE_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  SESSION_POLL_MAX_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  SESSION_POLICY_TIMEOUT_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  SESSION_POLL_TIMEOUT_MS: ["0.5", 'must be a whole number of at least 0, got "0.5"'],
  SESSION_DISCOVERY_GRACE_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  SESSION_RECONCILE_INTERVAL_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  SESSION_RECONCILE_ENDED_MS: ["2505600001", 'must be a whole number from 0 to 2505600000, got "2505600001"'],
  SIGNAL_BUFFER_BYTES: ["0", 'must be a whole number of at least 65536, got "0"'],
  SESSION_LOST_AFTER_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  SESSION_END_CHECK_DELAY_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  RUN_TAKE_OVER_INTERVAL_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  RUN_TAKE_UP_CONCURRENCY: ["0", 'must be a whole number of at least 1, got "0"'],
  RUN_TAKE_UP_PATIENCE_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  CLUSTER_LEASE_MS: ["2999", 'must be a whole number of at least 3000, got "2999"'],
  CLUSTER_LOOK_INTERVAL_MS: ["49", 'must be a whole number of at least 50, got "49"'],
  CANCEL_CALLBACK_TIMEOUT_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  STREAM_IDLE_TIMEOUT_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  STREAM_MAX_RETRIES: ["2.5", 'must be a whole number of at least 0, got "2.5"'],
  STREAM_BACKOFF_BASE_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  STREAM_BACKOFF_MAX_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  STREAM_DRAIN_TIMEOUT_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  STREAM_LONGEST_DRAIN_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  STREAM_SNAPSHOT_INTERVAL_MS: ["9", 'must be a whole number of at least 10, got "9"'],
  WATCH_RECONNECT_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  STREAM_SSE_HEARTBEAT_MS: ["999", 'must be a whole number of at least 1000, got "999"'],
  CONTROL_PLANE_PUBLIC_URL: ["runs:3001", "must be an address starting with http:// or https://"],
  EVIDENCE_TSA_URL: ["tsa.example.com", "must be an address starting with http:// or https://"],
  LAUNCHER_PUBLIC_URL: ["launcher:3000", "must be an address starting with http:// or https://"],
  RECEIPT_RETRY_WINDOW_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  REPLAY_MAX_DELAY_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  PROJECTION_CHECKPOINT_EVENTS: ["0", 'must be a whole number of at least 1, got "0"'],
  PROJECTION_CHECKPOINT_INTERVAL_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  PROJECTION_CACHE_BYTES: ["-1", 'must be a whole number of at least 0, got "-1"'],
  DECISION_CONCURRENCY: ["0", 'must be a whole number of at least 1, got "0"'],
  REPLAY_BATCH_SIZE: ["0", 'must be a whole number of at least 1, got "0"'],
  THROTTLE_TTL_MS: ["a minute", 'must be a whole number of at least 1, got "a minute"'],
  THROTTLE_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  THROTTLE_READ_LIMIT: ["-1", 'must be a whole number of at least 0, got "-1"'],
  THROTTLE_SCOPE: ["Route", 'must be one of client, route, got "Route"'],
  OTEL_BSP_MAX_QUEUE_SIZE: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_BSP_SCHEDULE_DELAY: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_BSP_EXPORT_TIMEOUT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_SPAN_EVENT_COUNT_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_SPAN_LINK_COUNT_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  OTEL_LINK_ATTRIBUTE_COUNT_LIMIT: ["0", 'must be a whole number of at least 1, got "0"'],
  PUBLIC_BASE_PATH: ["runplane", 'must be a path such as /runplane, got "runplane"'],
  TRUST_PROXY: ["some", 'must be true, false or a number of proxies, got "some"'],
  DATA_RETENTION_TTL_DAYS: ["0", 'must be a whole number of at least 1, got "0"'],
  DATA_RETENTION_INTERVAL_HOURS: ["daily", 'must be a whole number of at least 1, got "daily"'],
  DATA_RETENTION_BATCH_SIZE: ["0", 'must be a whole number of at least 1, got "0"'],
  ARCHIVE_URL: ["/var/lib/archive", 'must be file:///directory or s3://bucket/prefix, got "/var/lib/archive"'],
  ARCHIVE_CELL: ["EU", 'must be at most 63 lower-case letters, digits, _ and -, got "EU"'],
  ARCHIVE_INTERVAL_MS: ["999", 'must be a whole number of at least 1000, got "999"'],
  ARCHIVE_FILE_ROWS: ["0", 'must be a whole number of at least 1, got "0"'],
  ARCHIVE_FILE_BYTES: ["65535", 'must be a whole number of at least 65536, got "65535"'],
  AWS_ACCESS_KEY_ID: ["two words", 'must be one word, got "two words"'],
  AWS_SECRET_ACCESS_KEY: [`${PASSWORD}\u0007`, "must consist of printable ASCII characters"],
  AWS_SESSION_TOKEN: [`${PASSWORD}\u0007`, "must consist of printable ASCII characters"],
  AWS_REGION: ["eu central", 'must be one word, got "eu central"'],
  AWS_ENDPOINT_URL: [`ftp://user:${PASSWORD}@store`, "must be an address starting with http:// or https://"],
  LOG_LEVEL: ["loud", 'must be one of all, trace, debug, info, warn, warning, error, fatal, none, silent, got "loud"'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [`collector:${PASSWORD}@host`, "must be an address starting with http:// or https://"],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ["collector", "must be an address starting with http:// or https://"],
  WEBHOOK_TIMEOUT_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  WEBHOOK_RETRY_BASE_MS: ["0", 'must be a whole number of at least 1, got "0"'],
  WEBHOOK_RETRY_MAX_MS: ["-1", 'must be a whole number of at least 1, got "-1"'],
  WEBHOOK_RETRY_WINDOW_MS: ["-1", 'must be a whole number of at least 0, got "-1"'],
  WEBHOOK_CONCURRENCY: ["1.5", 'must be a whole number of at least 1, got "1.5"'],
  WEBHOOK_TOTAL_CONCURRENCY: ["0", 'must be a whole number of at least 1, got "0"'],
  WEBHOOK_POLL_MS: ["0", 'must be a whole number of at least 1, got "0"']
}

const flags = [
  ...["RUNTIME_TLS", "RUNTIME_ALLOW_INSECURE", "RUNTIME_USE_DEV_HEADER", "PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY"],
  ...["SESSION_DISCOVERY_ENABLED", "RUN_RECOVERY_ENABLED", "DATA_RETENTION_ENABLED"],
  "RETENTION_REQUIRES_ARCHIVE",
  ...["CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS", "WEBHOOK_ALLOW_PRIVATE_TARGETS", "OTEL_ENABLED"],
  ...["CONSOLE_ENABLED", "MCP_ENABLED", "MIGRATE_ON_START", "MODEL_PRICE_CATALOGUE"],
  ...["OTLP_INGEST_ENABLED", "OTLP_KEEP_USER"]
]

/** Of these any text is good, a wrong pattern is skipped, and the file is looked at below. */
const withoutBadValue = [
  ...[
    "NODE_ENV",
    "CONSOLE_DIR",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_EXPORTER",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_SEMCONV_STABILITY_OPT_IN",
    "OIDC_AUDIENCE",
    "OTLP_RUN_KEY",
    "PROTO_AUTH_TOKEN_SENDER",
    "PROTO_REDACT_PATTERNS",
    "PROTO_TOKEN_PRICING_FILE",
    "MODEL_PRICES_FILE",
    "SEAL_PRIVATE_KEY_FILE",
    "SEAL_PREVIOUS_KEY_FILE",
    "SEAL_HEADS_FILE",
    "RUNTIME_TLS_CA_FILE",
    "DATABASE_TLS_CA_FILE",
    "DATABASE_PASSWORD"
  ]
]

/** The variables that the sources of a package read, by the names of the readers. */
const readIn = (folder: URL): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .flatMap((entry) => [
      ...readFileSync(join(entry.parentPath, entry.name), "utf8").matchAll(
        /\b(?:flag|integer|list|oneOf|positiveInt|strictInteger|text|word|Config\.\w+)\(\s*"([A-Z][A-Z0-9_]+)"/g
      )
    ])
    .flatMap(([, name]) => (name === undefined ? [] : [name]))

describe("every setting", () => {
  it("has its bad value in the table, or is known to have none", () => {
    assert.sameMembers(
      [...Object.keys(badValues), ...flags, ...withoutBadValue],
      settingsOfProgram("control-plane").map(({ name }) => name)
    )
  })

  it("that is read by its name stands in the table", () => {
    const sources = ["runtime", "agents", "launcher", "control-plane", "sandbox", "stack", "server"]
    const read = new Set(sources.flatMap((name) => readIn(new URL(`../../../${name}/src/`, import.meta.url))))
    assert.isAbove(read.size, 5)
    assert.deepStrictEqual(
      [...read].filter((name) => !settingNames.has(name)),
      []
    )
  })

  for (const [variable, [value, problem]] of Object.entries(badValues)) {
    it(`${variable} is refused when it is ${JSON.stringify(value.replaceAll(PASSWORD, "…"))}`, () => {
      assert.deepStrictEqual(validate({ NODE_ENV: "test", [variable]: value }).faults, [{ variable, problem }])
    })
  }

  for (const variable of flags) {
    it(`${variable} counts as false when it is another word, and says so`, () => {
      const { faults, warnings } = validate({ NODE_ENV: "test", [variable]: "maybe" })
      assert.deepStrictEqual(faults, [])
      assert.deepStrictEqual(warnings[0], {
        variable,
        problem: 'is neither true nor false ("maybe"): it counts as false'
      })
      for (const known of ["TRUE", "yes", "1", "On"])
        assert.deepStrictEqual(validate({ [variable]: known }).warnings, [])
    })
  }

  it.effect("is reported at once with the others, and no secret is shown", () =>
    Effect.gen(function* () {
      const env = Object.fromEntries(Object.entries(badValues).map(([variable, [value]]) => [variable, value]))
      const { lines, outcome } = yield* check(env)
      assert.strictEqual(outcome._tag, "Failure")
      const reported = lines.filter((line) => line.startsWith("Error: ")).map((line) => line.split(" ")[1])
      assert.sameMembers(reported, Object.keys(badValues))
      assert.notInclude(lines.join("\n"), PASSWORD)
      if (outcome._tag === "Failure") assert.notInclude(outcome.failure.message, PASSWORD)
    })
  )

  it.effect("of a database on another host in plain text warns in production", () =>
    Effect.gen(function* () {
      const production = {
        NODE_ENV: "production",
        AUTH_API_KEYS: "sixteen-letters-",
        RUNTIME_TLS: "true",
        HOST: "127.0.0.1"
      }
      const { lines, outcome } = yield* check({
        ...production,
        DATABASE_URL: `postgresql://u:${PASSWORD}@db/x`
      })
      assert.strictEqual(outcome._tag, "Success")
      assert.deepStrictEqual(lines, [
        "Warn: DATABASE_URL sends passwords and data to another host in plain text: set sslmode=verify-full"
      ])
      assert.deepStrictEqual((yield* check({ ...production, DATABASE_URL: "postgresql://db/x?ssl=true" })).lines, [])
      assert.deepStrictEqual((yield* check({ DATABASE_URL: "postgresql://db/x" })).lines, [])
    })
  )

  it.effect("of an earlier release is named with the reason of its removal, and without its value", () =>
    Effect.gen(function* () {
      const { lines, outcome } = yield* check({
        STREAM_HUB_STRATEGY: "redis",
        REDIS_URL: `redis://:${PASSWORD}@cache`,
        STREAM_RESUME_ENABLED: "false"
      })
      assert.strictEqual(outcome._tag, "Success")
      assert.deepStrictEqual(lines, [
        "Warn: STREAM_RESUME_ENABLED is removed, because a broken stream is always resumed",
        "Warn: STREAM_HUB_STRATEGY is removed, because the processes notify each other through PostgreSQL",
        "Warn: REDIS_URL is removed, because the processes notify each other through PostgreSQL"
      ])
    })
  )
})
