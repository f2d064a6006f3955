import { DEVELOPMENT, row, settingsOf } from "./Setting.ts"
import { host, keyNames, keys, logLevel, oneOf, origins, proxies, text, wholeNumber } from "./SettingTypes.ts"

/** What both services read. */
export const ServiceSettings = settingsOf(["control-plane", "launcher"], {
  NODE_ENV: row(
    text,
    DEVELOPMENT,
    "`development` documents the API at `/docs`, logs for people and is lenient; `production` is strict."
  ),
  HOST: row(host, "0.0.0.0", "Address to listen on."),
  CORS_ORIGIN: row(
    origins,
    ["http://localhost:3000"],
    "Origins of browsers that may call; `*` stands for any run of characters."
  ),
  AUTH_API_KEYS: row(keys, [], "API keys that callers must present; without any, every caller is let in.", {
    secret: true
  }),
  THROTTLE_TTL_MS: row(
    wholeNumber({ unit: "milliseconds", min: 1 }),
    60_000,
    "Window in which the requests of a client are counted."
  ),
  THROTTLE_LIMIT: row(wholeNumber({ unit: "requests", min: 1 }), 100, "Requests that a client may make in one window."),
  THROTTLE_SCOPE: row(
    oneOf(["client", "route"]),
    "client",
    "Whether requests are counted over all routes or for each route."
  ),
  TRUST_PROXY: row(
    proxies,
    0,
    "Proxies in front of the service: the client's address is the entry of `X-Forwarded-For` that the outermost wrote.",
    {
      shownDefault: "false"
    }
  ),
  SHUTDOWN_DELAY_MS: row(
    wholeNumber({ unit: "milliseconds", max: 600_000 }),
    0,
    "How long requests are still served after a signal to stop, while readiness says no."
  ),
  LOG_LEVEL: row(logLevel, "Info", "Entries below this level are not logged.", { shownDefault: "info" })
})

/** What the control plane reads beside them: who is audited. */
export const AuditSettings = settingsOf(["control-plane"], {
  AUTH_API_KEY_NAMES: row(keyNames, [], "Names for the keys, in their order, under which they are audited and counted.")
})
