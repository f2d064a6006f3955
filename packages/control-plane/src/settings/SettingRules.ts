import { API_KEY_NAME } from "@runplane/api"
import { LOG_LEVELS } from "../telemetry/Logging.ts"
import { integerFault } from "./StrictInteger.ts"

/** What is wrong with a value, to be read after the variable's name; undefined when nothing is. The value is not empty. */
export type SettingRule = (value: string) => string | undefined

const atLeast =
  (minimum: number): SettingRule =>
  (value) =>
    integerFault(value, minimum)

const oneOf =
  (...words: ReadonlyArray<string>): SettingRule =>
  (value) =>
    words.includes(value) ? undefined : `must be one of ${words.join(", ")}, got "${value}"`

/** The value itself is not told: an address may hold a password. */
const address =
  (...protocols: ReadonlyArray<string>): SettingRule =>
  (value) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol)
      ? undefined
      : `must be an address starting with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`

// What stands before an @ may be a password.
const shown = (value: string): string => (value.includes("@") ? "" : `, got "${value}"`)

const hostAndPort: SettingRule = (value) =>
  /^[^/@?#\s]+:\d+$/.test(value) && URL.canParse(`http://${value}`) ? undefined : `must be host:port${shown(value)}`

const host: SettingRule = (value) =>
  /^[^/@?#\s]+$/.test(value) ? undefined : `must be a host name or an address${shown(value)}`

const proxies: SettingRule = (value) =>
  /^(?:true|false|\d+)$/i.test(value) ? undefined : `must be true, false or a number of proxies, got "${value}"`

const logLevel: SettingRule = (value) => oneOf(...Object.keys(LOG_LEVELS))(value.toLowerCase())

/** An entry that is no origin would never match, and nobody would be told why. */
const origins: SettingRule = (value) => {
  const wrong = value
    .split(",")
    .map((entry) => entry.trim())
    .find((entry) => entry !== "" && !entry.includes("*") && !isOrigin(entry))
  return wrong === undefined ? undefined : `must be origins such as https://console.example${shown(wrong)}`
}
const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text

/** Goes into a header, so it must fit into one. The value itself is not told. */
const secret: SettingRule = (value) =>
  /^[\x20-\x7e]+$/.test(value) ? undefined : "must consist of printable ASCII characters"

/** The value itself is not told: somebody may have mistaken it for the keys. */
const keyNames: SettingRule = (value) => {
  const names = value.split(",").map((entry) => entry.trim())
  return names.every((name) => name === "" || API_KEY_NAME.test(name))
    ? undefined
    : "must be names of letters, digits and . _ @ - for the keys, in their order"
}

const word: SettingRule = (value) => (/^[\x21-\x7e]+$/.test(value) ? undefined : `must be one word, got "${value}"`)

const http = address("http:", "https:")

/** Values that stop the start (http-details section 14). */
export const rules: Readonly<Record<string, SettingRule>> = {
  HOST: host,
  CORS_ORIGIN: origins,
  AUTH_API_KEYS: secret,
  AUTH_API_KEY_NAMES: keyNames,
  DATABASE_URL: address("postgres:", "postgresql:"),
  REDIS_URL: address("redis:", "rediss:"),
  LOG_LEVEL: logLevel,
  OTEL_EXPORTER_OTLP_ENDPOINT: http,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http,
  STREAM_HUB_STRATEGY: oneOf("memory", "redis"),
  THROTTLE_TTL_MS: atLeast(1),
  THROTTLE_LIMIT: atLeast(1),
  THROTTLE_SCOPE: oneOf("client", "route"),
  TRUST_PROXY: proxies,
  RUNTIME_KIND: word,
  RUNTIME_ADDRESS: hostAndPort,
  RUNTIME_BEARER_TOKEN: secret,
  RUNTIME_DEV_AGENT_ID: word,
  RUNTIME_REQUEST_TIMEOUT_MS: atLeast(1),
  RUNTIME_CIRCUIT_BREAKER_THRESHOLD: atLeast(1),
  RUNTIME_CIRCUIT_BREAKER_RESET_MS: atLeast(1),
  RUNTIME_LIST_SESSIONS_PAGE_SIZE: atLeast(1),
  RUNTIME_LIST_SESSIONS_MAX_PAGES: atLeast(1),
  RUNTIME_LIST_SESSIONS_TIMEOUT_MS: atLeast(1),
  RUNTIME_MAX_RECEIVE_MESSAGE_BYTES: atLeast(1),
  RUNTIME_MAX_SEND_MESSAGE_BYTES: atLeast(1),
  PROTO_AUTH_SERVICE_URL: http,
  PROTO_AUTH_SERVICE_TIMEOUT_MS: atLeast(1),
  PROTO_AUTH_TOKEN_TTL_SECONDS: atLeast(1),
  DATA_RETENTION_TTL_DAYS: atLeast(1),
  DATA_RETENTION_INTERVAL_HOURS: atLeast(1),
  DATA_RETENTION_BATCH_SIZE: atLeast(1)
}

/** A whole number from `minimum` to `maximum`. */
export interface NumberRange {
  readonly minimum: number
  readonly maximum?: number
}

const MAX_PORT = 65_535
/** The shortest heartbeat that a client may ask for (run-control-plane "Limits"). Milliseconds. */
const MIN_HEARTBEAT_MS = 1_000

const fromZero: NumberRange = { minimum: 0 }
const fromOne: NumberRange = { minimum: 1 }

/**
 * Numbers that fall back to their default when they do not parse (http-details section 14). One that does, and lies outside of
 * its range, says clearly what nobody could mean, and stops the start.
 */
export const forgivenNumbers: Readonly<Record<string, NumberRange>> = {
  PORT: { minimum: 0, maximum: MAX_PORT },
  DB_POOL_MAX: fromOne,
  DB_POOL_IDLE_TIMEOUT: fromZero,
  DB_POOL_CONNECTION_TIMEOUT: fromOne,
  SESSION_POLL_BASE_MS: fromZero,
  SESSION_POLL_MAX_MS: fromZero,
  SESSION_POLL_TIMEOUT_MS: fromZero,
  SESSION_DISCOVERY_GRACE_MS: fromZero,
  SESSION_END_CHECK_DELAY_MS: fromZero,
  RUN_TAKE_OVER_INTERVAL_MS: fromZero,
  CANCEL_CALLBACK_TIMEOUT_MS: fromOne,
  STREAM_IDLE_TIMEOUT_MS: fromZero,
  STREAM_MAX_RETRIES: fromZero,
  STREAM_BACKOFF_BASE_MS: fromZero,
  STREAM_BACKOFF_MAX_MS: fromZero,
  STREAM_DRAIN_TIMEOUT_MS: fromZero,
  STREAM_LONGEST_DRAIN_MS: fromZero,
  WATCH_RECONNECT_MS: fromZero,
  STREAM_SSE_HEARTBEAT_MS: { minimum: MIN_HEARTBEAT_MS },
  REPLAY_MAX_DELAY_MS: fromZero,
  REPLAY_BATCH_SIZE: fromOne,
  WEBHOOK_TIMEOUT_MS: fromOne,
  WEBHOOK_RETRY_BASE_MS: fromOne,
  WEBHOOK_RETRY_MAX_MS: fromOne,
  WEBHOOK_RETRY_WINDOW_MS: fromZero,
  WEBHOOK_CONCURRENCY: fromOne,
  WEBHOOK_POLL_MS: fromOne
}

/** Settings that are true or false; other words are false, and somebody should know (http-details section 14). */
export const flags: ReadonlyArray<string> = [
  "RUNTIME_TLS",
  "RUNTIME_ALLOW_INSECURE",
  "RUNTIME_USE_DEV_HEADER",
  "PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY",
  "SESSION_DISCOVERY_ENABLED",
  "RUN_RECOVERY_ENABLED",
  "STREAM_RESUME_ENABLED",
  "CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS",
  "WEBHOOK_ALLOW_PRIVATE_TARGETS",
  "DATA_RETENTION_ENABLED",
  "OTEL_ENABLED"
]

/** Settings of which any text is good, or whose own reader judges them. */
export const freeTexts: ReadonlyArray<string> = [
  "NODE_ENV",
  "OTEL_SERVICE_NAME",
  "PROTO_AUTH_TOKEN_SENDER",
  // A pattern that is none is logged and skipped (run-control-plane "Redaction").
  "PROTO_REDACT_PATTERNS",
  "PROTO_TOKEN_PRICING_FILE"
]
