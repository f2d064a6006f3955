import type { Reading, Row, SettingType } from "./Setting.ts"
import { developmentRow, row, settingsOf } from "./Setting.ts"
import {
  address,
  databaseAddress,
  flag,
  list,
  listenPort,
  mailAddress,
  path,
  saying,
  secretText,
  smtpAddress,
  text,
  wholeNumber,
  word
} from "./SettingTypes.ts"

/** Timers take no more; a larger value means "very long". */
const LONGEST_MS = 2 ** 31 - 1

const ms = wholeNumber({ unit: "milliseconds", whenBad: "default", atMost: LONGEST_MS })
/** A time-out in which something has to be possible. */
const timeOut = wholeNumber({ unit: "milliseconds", min: 1, whenBad: "stop-out-of-bounds", atMost: LONGEST_MS })
const number = (unit: string) => wholeNumber({ unit, whenBad: "default", atMost: LONGEST_MS })

const url: SettingType<string> = saying(address("http:", "https:"), "must be an http or https address")

type Scopes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isScopes = (value: unknown): value is Scopes => isRecord(value) && Object.values(value).every(isRecord)

const scopes: SettingType<Scopes> = {
  label: "JSON object of objects",
  read: (given): Reading<Scopes> => {
    try {
      const value: unknown = JSON.parse(given)
      return isScopes(value)
        ? { _tag: "Value", value }
        : { _tag: "Fault", problem: "must be an object of objects, keyed by sender" }
    } catch {
      return { _tag: "Fault", problem: "is not JSON" }
    }
  }
}

const NO_SCOPES: Scopes = {}

/** Every `PROTO_` name of the launch service has a `MACP_` alias. */
const withAliases = <Rows extends Readonly<Record<string, Row<unknown>>>>(rows: Rows): Rows =>
  // The rows keep their types: only their aliases change.
  Object.fromEntries(
    Object.entries(rows).map(([name, given]) => [
      name,
      name.startsWith("PROTO_") ? { ...given, aliases: [name.replace(/^PROTO_/, "MACP_")] } : given
    ])
  ) as Rows

/** What the launch service reads, beside `ServiceSettings`. */
export const LaunchSettings = settingsOf(
  ["launcher"],
  withAliases({
    PORT: row(saying(listenPort(), "must be a number from 0 to 65535"), 3000, "Port to listen on; 0 takes a free one."),
    SERVICE_NAME: row(text, "runplane-launcher", "Name of the service in `/healthz` and in the metadata of sessions."),
    OTEL_SERVICE_NAME: row(text, "scenario-launch-service", "Name of the service in traces."),
    PACKS_DIR: row(path, "packs", "Folder of the scenario packs."),
    AGENTS_DIR: row(path, "", "Folder of the agents' profiles and manifests.", { shownDefault: "PACKS_DIR/_agents" }),
    POLICIES_DIR: row(path, "", "Folder of the policies.", { shownDefault: "PACKS_DIR/_policies" }),
    LAUNCHER_PUBLIC_URL: row(
      url,
      "",
      "Address at which browsers reach this service: people sign in to its inbox there, over https or on the loopback.",
      { shownDefault: "the address of the request, on the loopback" }
    ),
    OIDC_CLIENT_ID: row(
      word,
      undefined,
      "Client id of the inbox at `OIDC_ISSUER`, whose redirect address is `LAUNCHER_PUBLIC_URL/inbox/callback`."
    ),
    OIDC_CLIENT_SECRET: row(text, "", "Secret of that client; a public client has none.", { secret: true }),
    LAUNCHER_SLACK_SIGNING_SECRET: row(
      word,
      undefined,
      "Signing secret of the Slack app whose presses come to `POST /inbox/slack`; with it `LAUNCHER_SLACK_TEAM`, `LAUNCHER_PUBLIC_URL` and `LAUNCHER_DATABASE_URL` are required.",
      { secret: true, shownDefault: "none" }
    ),
    LAUNCHER_SLACK_TEAM: row(word, undefined, "Id of the workspace, such as T012AB3CD: no other one is accepted."),
    LAUNCHER_SLACK_BOT_TOKEN: row(
      secretText,
      undefined,
      "Bot token of that app, with the scope `chat:write`: with it questions go to people as direct messages, and a press can give a reason.",
      { secret: true, shownDefault: "none" }
    ),
    A2A_ENABLED: row(
      flag,
      false,
      "Whether agents that speak A2A 1.0 can start the scenarios with `publish: a2a`; `LAUNCHER_PUBLIC_URL`, `LAUNCHER_DATABASE_URL` and `PROTO_CONTROL_PLANE_URL` are required then."
    ),
    REGISTER_POLICIES_ON_LAUNCH: row(
      flag,
      true,
      "Whether the control plane gets those policies, at the start and before a launch that needs one, and the alert rules of the packs at the start."
    ),
    SERVICE_ROOT: row(
      path,
      ".",
      "Folder in which agents start, and in which the files of their manifests are searched."
    ),
    LAUNCH_DATA_DIR: row(
      path,
      "",
      "Folder of the runs that wait for the control plane; without one a restart of the service loses them.",
      { shownDefault: "none" }
    ),
    LAUNCHER_DATABASE_URL: row(
      databaseAddress,
      undefined,
      "The PostgreSQL database of the seats of people; without one no scenario with a seat is launched.",
      { secret: true, shownDefault: "none" }
    ),
    LAUNCHER_DATABASE_PASSWORD: row(
      text,
      undefined,
      "Password of the role, as it is, when `LAUNCHER_DATABASE_URL` has none.",
      { secret: true }
    ),
    LAUNCHER_DATABASE_TLS_CA_FILE: row(
      path,
      undefined,
      "PEM file with the authorities that vouch for that database; with it the default of `sslmode` is `verify-full`."
    ),
    LAUNCHER_SMTP_URL: row(
      smtpAddress,
      undefined,
      "Mail server of notices to people: `smtp://user:password@host:587`, which has to offer STARTTLS unless it is on the loopback, or `smtps://host:465`; without one no mail is sent.",
      { secret: true, shownDefault: "none" }
    ),
    LAUNCHER_SMTP_FROM: row(mailAddress, undefined, "Sender of these mails; needed with `LAUNCHER_SMTP_URL`."),
    PEOPLE_RETENTION_DAYS: row(
      wholeNumber({ unit: "days", min: 1 }),
      30,
      "How long the texts of questions and answers are kept after the end of their session."
    ),
    REGISTRY_CACHE_TTL_MS: row(ms, 0, "How long the packs are kept in memory; 0 reads them for every request."),
    PACKS_STRICT: row(
      flag,
      undefined,
      "Whether one broken file fails every route that reads packs; otherwise it costs only its own pack.",
      { shownDefault: "true, in production false" }
    ),
    AUTO_BOOTSTRAP_EXAMPLE_AGENTS: row(flag, true, "Whether `POST /examples/run` starts the agents."),
    EXAMPLE_AGENT_PYTHON_PATH: row(text, "python3", "Interpreter of agents in Python."),
    EXAMPLE_AGENT_NODE_PATH: row(text, "", "Interpreter of agents in JavaScript and TypeScript.", {
      shownDefault: "the one that runs the service"
    }),
    HOST_ENV_ALLOW: row(
      list,
      [],
      "Names of variables of the service's environment that agents may see beside PATH, HOME and the like, such as " +
        "OPENAI_API_KEY."
    ),
    A2A_ALLOW_PRIVATE: developmentRow(
      flag,
      "Whether agents that speak A2A may be at loopback and private addresses, and be called over http."
    ),
    EXAMPLE_AGENT_USER: row(
      word,
      undefined,
      "User, by name or number, that agents run as; needs a service that runs as root.",
      { shownDefault: "the service's own" }
    ),
    EXAMPLE_AGENT_ATTACH_CONFIRMATION_MS: row(ms, 400, "How long a started agent must live to count as attached."),
    EXAMPLE_AGENT_MAX_PROCESSES: row(
      wholeNumber({ unit: "processes", min: 1, whenBad: "default", atMost: LONGEST_MS }),
      16,
      "Agent processes at a time; a launch whose agents do not fit waits."
    ),
    EXAMPLE_LAUNCH_QUEUE_LIMIT: row(
      number("launches"),
      32,
      "Launches that may wait for capacity for their agents; one more is refused."
    ),
    EXAMPLE_LAUNCH_QUEUE_TIMEOUT_MS: row(timeOut, 30_000, "How long a launch may wait before it is refused."),
    EXAMPLE_AGENT_LOG_BYTES_PER_SECOND: row(
      wholeNumber({ unit: "bytes per second", min: 1, whenBad: "default", atMost: LONGEST_MS }),
      65_536,
      "Logged output of an agent; output beyond that, and beyond a burst of 4 s, is left out."
    ),
    EXAMPLE_AGENT_SESSION_TIMEOUT_MS: row(
      ms,
      55_000,
      "How long the agents of a launch may take to open its session before they are ended and its run fails; 0 leaves " +
        "that to the control plane."
    ),
    EXAMPLE_AGENT_EXIT_GRACE_MS: row(
      ms,
      30_000,
      "How long agents may run after the end of their run before they are stopped."
    ),
    EXAMPLE_SHADOW_GRACE_MS: row(
      ms,
      30_000,
      "How long a shadow may still act after the end of its session, where the participant beside it has."
    ),
    EXAMPLE_AGENT_STOP_GRACE_MS: row(ms, 5_000, "How long an agent may run after SIGTERM before it is killed."),
    PROTO_RUNTIME_ADDRESS: row(text, "", "The runtime's gRPC address (host:port) that agents get."),
    PROTO_RUNTIME_TLS: row(flag, true, "Whether the agents and the seats of people call the runtime over TLS."),
    PROTO_RUNTIME_TLS_CA_FILE: row(
      path,
      undefined,
      "PEM file with the certificates that the seats of people trust for the runtime, in place of the system's roots."
    ),
    PROTO_RUNTIME_ALLOW_INSECURE: row(flag, false, "Whether the agents may call the runtime without TLS."),
    PROTO_AUTH_SERVICE_URL: row(
      url,
      "",
      "Service that mints the agents' credentials; required, unless development credentials are allowed."
    ),
    PROTO_AUTH_DEVELOPMENT_CREDENTIALS: row(
      flag,
      false,
      "Whether agents may present their name as the credential, for a runtime that trusts every caller."
    ),
    PROTO_AUTH_SERVICE_TIMEOUT_MS: row(timeOut, 5_000, "Time for one request to that service."),
    PROTO_AUTH_TOKEN_TTL_SECONDS: row(
      saying(wholeNumber({ unit: "seconds", min: 1 }), "must be a positive integer"),
      3_600,
      "Requested lifetime of a minted credential."
    ),
    PROTO_AUTH_SCOPES_JSON: row(
      scopes,
      NO_SCOPES,
      "Scopes that replace the default ones, by sender; `null` removes one."
    ),
    PROTO_CANCEL_CALLBACK_HOST: row(
      text,
      "127.0.0.1",
      "Address at which agents take cancel requests; set to nothing, they take none.",
      {
        emptyCounts: true
      }
    ),
    PROTO_CANCEL_CALLBACK_PORT_BASE: row(
      number("port"),
      0,
      "Port of the first agent, the others follow; 0 lets each choose."
    ),
    PROTO_CANCEL_CALLBACK_PATH: row(text, "/agent/cancel", "Path of cancel requests."),
    PROTO_CONTROL_PLANE_URL: row(url, "", "The control plane that runs are submitted to; without one, none are."),
    CONTROL_PLANE_PUBLIC_URL: row(
      url,
      "",
      "Address of the control plane for browsers, in the links of a launched run.",
      { shownDefault: "PROTO_CONTROL_PLANE_URL" }
    ),
    PROTO_CONTROL_PLANE_TIMEOUT_MS: row(timeOut, 5_000, "Time for one request to the control plane."),
    PROTO_CONTROL_PLANE_API_KEY: row(text, "", "API key for the control plane.", { secret: true })
  })
)
