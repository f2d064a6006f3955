import { DEVELOPMENT, row, settingsOf } from "./Setting.ts"
import {
  basePath,
  flag,
  host,
  hostNames,
  httpAddress,
  issuerAddress,
  keyNames,
  keyRoles,
  keys,
  list,
  logLevel,
  oneOf,
  origins,
  path,
  proxies,
  text,
  wholeNumber,
  word
} from "./SettingTypes.ts"

const most = (unit: string) => wholeNumber({ unit, min: 1 })

/** What both services read. */
export const ServiceSettings = settingsOf(["control-plane", "launcher"], {
  NODE_ENV: row(
    text,
    DEVELOPMENT,
    "`development` documents the API at `/docs`, logs for people and is lenient; `production` is strict."
  ),
  HOST: row(host, undefined, "Address to listen on.", {
    shownDefault: "0.0.0.0 with API keys, 127.0.0.1 without"
  }),
  ALLOWED_HOSTS: row(
    hostNames,
    [],
    "Names besides `localhost` and addresses under which a service without API keys is called; others are refused."
  ),
  CORS_ORIGIN: row(
    origins,
    ["http://localhost:3000"],
    "Origins of browsers that may call; `*` matches any number of characters."
  ),
  AUTH_API_KEYS: row(
    keys,
    [],
    "API keys that callers must present, outside of development of 16 characters or more; without any, and without " +
      "`OIDC_ISSUER`, every caller is let in.",
    {
      secret: true
    }
  ),
  AUTH_API_KEY_NAMES: row(
    keyNames,
    [],
    "Names for the keys, in their order, under which they are audited and counted."
  ),
  AUTH_API_KEY_ROLES: row(
    keyRoles,
    [],
    "Roles of the keys, in their order: `ingest` sends telemetry, `viewer` reads, `operator` acts on runs, `admin` does " +
      "everything, `voter` answers questions to people and nothing else; outside of development all or none.",
    { shownDefault: "admin for each" }
  ),
  OIDC_ISSUER: row(
    issuerAddress,
    undefined,
    "OpenID Connect issuer whose signed tokens are taken where keys are, exactly as its discovery document names it."
  ),
  OIDC_AUDIENCE: row(list, [], "Audiences that a token may be for; needed with `OIDC_ISSUER`."),
  OIDC_ROLE_CLAIM: row(
    word,
    "roles",
    "Claim of a token that holds `ingest`, `viewer`, `operator`, `admin` or `voter`; dots lead into objects (`realm_access.roles`)."
  ),
  OIDC_GROUPS_CLAIM: row(
    word,
    "groups",
    "Claim of a token that holds the groups of its person, for questions to a group; dots lead into objects."
  ),
  AUTH_FAILURE_LIMIT: row(
    wholeNumber({ unit: "requests", min: 1 }),
    30,
    "Wrong keys and tokens that an address may send in one window of `THROTTLE_TTL_MS` before they are answered with 429."
  ),
  THROTTLE_TTL_MS: row(
    wholeNumber({ unit: "milliseconds", min: 1 }),
    60_000,
    "Window in which the requests of a client are counted."
  ),
  THROTTLE_LIMIT: row(wholeNumber({ unit: "requests", min: 1 }), 100, "Requests that a client may make in one window."),
  THROTTLE_READ_LIMIT: row(
    wholeNumber({ unit: "requests", min: 0 }),
    0,
    "Requests that only read, GET and HEAD, that a client may make in one window beside the others; 0 counts all together."
  ),
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
  PUBLIC_BASE_PATH: row(
    basePath,
    "",
    "Path (`/runplane`) below which a proxy serves the service and which it leaves in its requests; a proxy that takes it off needs no setting."
  ),
  CONSOLE_ENABLED: row(
    flag,
    true,
    "Whether the control plane serves the web console under `/console/`, and the launch service its page of the inbox."
  ),
  CONSOLE_DIR: row(path, undefined, "Folder of a built web console.", { shownDefault: "the one of this checkout" }),
  SHUTDOWN_DELAY_MS: row(
    wholeNumber({ unit: "milliseconds", max: 600_000 }),
    0,
    "How long requests are still served after a signal to stop, while readiness says no."
  ),
  LOG_LEVEL: row(logLevel, "Info", "Entries below this level are not logged.", { shownDefault: "info" }),

  OTEL_ENABLED: row(flag, false, "Whether traces are exported."),
  OTEL_TRACES_EXPORTER: row(text, "otlp", "Exporters of traces, separated by commas: `otlp`, `console`, `none`."),
  OTEL_EXPORTER_OTLP_PROTOCOL: row(
    text,
    "http/protobuf",
    "How traces go out over OTLP: `http/protobuf`, `http/json` or `grpc`."
  ),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: row(text, "", "The same for traces alone."),
  OTEL_EXPORTER_OTLP_ENDPOINT: row(httpAddress, "", "The collector. The other standard `OTEL_*` variables count too.", {
    shownDefault: "http://localhost:4318, with gRPC http://localhost:4317"
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: row(httpAddress, "", "The collector's address for traces, when it is another."),
  OTEL_BSP_MAX_QUEUE_SIZE: row(
    wholeNumber({ unit: "spans", min: 1 }),
    2048,
    "Spans that wait for the collector; further ones are dropped."
  ),
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: row(
    wholeNumber({ unit: "characters", min: 1 }),
    4_096,
    "Longer texts of spans and their events are cut: agents and callers choose many of them."
  ),
  OTEL_BSP_SCHEDULE_DELAY: row(wholeNumber({ unit: "ms", min: 1 }), 5_000, "A batch of spans waits at most so long."),
  OTEL_BSP_EXPORT_TIMEOUT: row(wholeNumber({ unit: "ms", min: 1 }), 30_000, "How long the export of a batch may take."),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: row(
    wholeNumber({ unit: "spans", min: 1 }),
    512,
    "Spans of a batch, at most `OTEL_BSP_MAX_QUEUE_SIZE`."
  ),
  OTEL_TRACES_SAMPLER: row(
    text,
    "parentbased_always_on",
    "Which traces are recorded: `always_on`, `always_off`, `traceidratio`, or one of them as root of `parentbased_`."
  ),
  OTEL_TRACES_SAMPLER_ARG: row(text, "1", "The share of the traces that `traceidratio` records, from 0 to 1."),
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: row(most("attributes"), 128, "Attributes of a span."),
  OTEL_SPAN_EVENT_COUNT_LIMIT: row(most("events"), 128, "Events of a span."),
  OTEL_SPAN_LINK_COUNT_LIMIT: row(most("links"), 128, "Links of a span."),
  OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: row(most("attributes"), 128, "Attributes of an event of a span."),
  OTEL_LINK_ATTRIBUTE_COUNT_LIMIT: row(most("attributes"), 128, "Attributes of a link of a span.")
})
