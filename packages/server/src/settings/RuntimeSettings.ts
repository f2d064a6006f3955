import { developmentRow, row, settingsOf } from "./Setting.ts"
import { flag, hostAndPort, httpAddress, path, secretText, text, wholeNumber, word } from "./SettingTypes.ts"

const ms = wholeNumber({ unit: "milliseconds", min: 1 })
const bytes = wholeNumber({ unit: "bytes", min: 1 })

/** How the control plane calls the runtime. Nothing is lenient: a wrong guess would observe nothing. */
export const RuntimeSettings = settingsOf(["control-plane"], {
  RUNTIME_KIND: row(word, "rust", "Kind of the runtime, as runs name it."),
  RUNTIME_ADDRESS: row(hostAndPort, "127.0.0.1:50051", "The runtime's gRPC address."),
  RUNTIME_TLS: row(flag, false, "Whether the runtime is called over TLS, with the system's roots."),
  RUNTIME_TLS_CA_FILE: row(
    path,
    undefined,
    "PEM file with the certificates that are trusted for the runtime in place of the system's roots."
  ),
  RUNTIME_ALLOW_INSECURE: developmentRow(flag, "Whether production may call the runtime without TLS."),
  RUNTIME_BEARER_TOKEN: row(secretText, undefined, "Credential for the runtime, unless the auth service mints one.", {
    secret: true
  }),
  RUNTIME_USE_DEV_HEADER: developmentRow(flag, "Whether a name is sent as the credential, without another one."),
  RUNTIME_DEV_AGENT_ID: row(word, "macp-control-plane", "That name."),
  RUNTIME_REQUEST_TIMEOUT_MS: row(ms, 30_000, "Deadline of a call that is not a stream; below 5000 with a warning."),
  RUNTIME_CIRCUIT_BREAKER_THRESHOLD: row(
    wholeNumber({ unit: "failures", min: 1 }),
    5,
    "Failures in a row that open the circuit breaker."
  ),
  RUNTIME_CIRCUIT_BREAKER_RESET_MS: row(ms, 30_000, "How long the circuit stays open before one call is let through."),
  RUNTIME_LIST_SESSIONS_PAGE_SIZE: row(
    wholeNumber({ unit: "sessions", min: 1 }),
    200,
    "Sessions in a page of a listing."
  ),
  RUNTIME_LIST_SESSIONS_MAX_PAGES: row(
    wholeNumber({ unit: "pages", min: 1 }),
    200,
    "Pages of a listing that are read at most."
  ),
  RUNTIME_LIST_SESSIONS_TIMEOUT_MS: row(ms, 60_000, "Time for a whole listing."),
  RUNTIME_MAX_RECEIVE_MESSAGE_BYTES: row(bytes, 16_777_216, "Largest message that is taken from the runtime."),
  RUNTIME_MAX_SEND_MESSAGE_BYTES: row(bytes, 4_194_304, "Largest message that is sent to the runtime."),
  RUNTIME_STREAM_BUFFER_BYTES: row(
    bytes,
    65_536,
    "Payloads that a stream holds back for a slow reader; behind them the runtime is slowed down."
  ),
  PROTO_AUTH_SERVICE_URL: row(httpAddress, undefined, "Service that mints credentials for the runtime."),
  PROTO_AUTH_SERVICE_TIMEOUT_MS: row(ms, 5_000, "Time for one request to that service."),
  PROTO_AUTH_TOKEN_TTL_SECONDS: row(
    wholeNumber({ unit: "seconds", min: 1 }),
    3_600,
    "Requested lifetime of a minted credential."
  ),
  PROTO_AUTH_TOKEN_SENDER: row(text, "macp-control-plane", "Identity it is minted for."),
  PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY: row(flag, false, "Whether it may change policies.")
})
