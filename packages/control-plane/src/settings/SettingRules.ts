import { LOG_LEVELS } from "../telemetry/Logging.ts"
import { integerFault } from "./StrictInteger.ts"

/** What is wrong with a value, to be read after the variable's name; undefined when nothing is. The value is not empty. */
export type SettingRule = (value: string) => string | undefined

const atLeast =
  (minimum: number): SettingRule =>
  (value) =>
    integerFault(value, minimum)

const MAX_PORT = 65_535
const port: SettingRule = (value) =>
  Number(value) > MAX_PORT || Number(value) < 0 ? `must be a port from 0 to ${MAX_PORT}, got "${value}"` : undefined

const oneOf =
  (...words: ReadonlyArray<string>): SettingRule =>
  (value) =>
    words.includes(value.toLowerCase()) ? undefined : `must be one of ${words.join(", ")}, got "${value}"`

/** The value itself is not told: an address may hold a password. */
const address =
  (...protocols: ReadonlyArray<string>): SettingRule =>
  (value) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol)
      ? undefined
      : `must be an address starting with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`

const hostAndPort: SettingRule = (value) =>
  /^[^/@?#\s]+:\d+$/.test(value) && URL.canParse(`http://${value}`) ? undefined : `must be host:port, got "${value}"`

const proxies: SettingRule = (value) =>
  /^(?:true|false|\d+)$/i.test(value) ? undefined : `must be true, false or a number of proxies, got "${value}"`

const http = address("http:", "https:")

/** Values that stop the start (http-details section 14). */
export const rules: Readonly<Record<string, SettingRule>> = {
  PORT: port,
  DATABASE_URL: address("postgres:", "postgresql:"),
  LOG_LEVEL: oneOf(...Object.keys(LOG_LEVELS)),
  OTEL_EXPORTER_OTLP_ENDPOINT: http,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http,
  STREAM_HUB_STRATEGY: oneOf("memory", "redis"),
  THROTTLE_TTL_MS: atLeast(1),
  THROTTLE_LIMIT: atLeast(1),
  THROTTLE_SCOPE: oneOf("client", "route"),
  TRUST_PROXY: proxies,
  RUNTIME_ADDRESS: hostAndPort,
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

/** Numbers that fall back to their default when they are none (http-details section 14, "Numbers that do not parse"). */
export const forgivenNumbers: ReadonlyArray<string> = [
  "PORT",
  "DB_POOL_MAX",
  "DB_POOL_IDLE_TIMEOUT",
  "DB_POOL_CONNECTION_TIMEOUT",
  "SESSION_POLL_BASE_MS",
  "SESSION_POLL_MAX_MS",
  "SESSION_POLL_TIMEOUT_MS",
  "CANCEL_CALLBACK_TIMEOUT_MS",
  "STREAM_IDLE_TIMEOUT_MS",
  "STREAM_MAX_RETRIES",
  "STREAM_BACKOFF_BASE_MS",
  "STREAM_BACKOFF_MAX_MS",
  "STREAM_SSE_HEARTBEAT_MS",
  "REPLAY_MAX_DELAY_MS",
  "REPLAY_BATCH_SIZE"
]

/** The variables that the rules across variables read. */
export const deploymentVariables = [
  "NODE_ENV",
  "AUTH_API_KEYS",
  "DB_POOL_MAX",
  "RUNTIME_TLS",
  "RUNTIME_ALLOW_INSECURE",
  "RUNTIME_USE_DEV_HEADER",
  "RUNTIME_BEARER_TOKEN"
] as const
