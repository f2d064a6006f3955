import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import {
  ControlPlaneSettings,
  DEVELOPMENT,
  LaunchSettings,
  RuntimeSettings,
  readSetting,
  readText,
  ServiceSettings
} from "@runplane/server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { StackSettings } from "./StackSettings.ts"

/** What the services have to know of each other. */
export interface Neighbours {
  readonly runtimeAddress: string
  readonly controlPlaneUrl: string
  readonly launcherUrl: string
  /** Undefined: no auth service of ours. */
  readonly authUrl: string | undefined
  /** The embedded database; undefined with one of the user's. */
  readonly embeddedUrl: string | undefined
}

/**
 * Ports from here on are those that agents listen on for cancel requests: below what systems give to outgoing
 * connections.
 */
export const CANCEL_CALLBACK_PORT_BASE = 23_000

/** Requests in a window: a console, a script and a load test of one user share the address of this machine. */
const GENEROUS_LIMIT = "10000"

/** Texts of settings by name; an empty one unsets what the user gave. */
type Texts = Readonly<Record<string, string>>

/** The sandbox knows no TLS. */
const SANDBOX: Texts = { RUNTIME_TLS: "false", RUNTIME_ALLOW_INSECURE: "true" }

/** A sandbox without signed tokens takes every bearer value for a name. */
const NAMES: Texts = {
  RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
  PROTO_AUTH_SERVICE_URL: "",
  PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true"
}

/**
 * Both services mint at our auth service; nothing else counts as a credential, so that a token which is refused is not
 * covered up by a name. The control plane may write policies: the launch service registers those of the packs through
 * it.
 */
const tokens = (authUrl: string): Texts => ({
  PROTO_AUTH_SERVICE_URL: authUrl,
  PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY: "true",
  RUNTIME_BEARER_TOKEN: "",
  RUNTIME_USE_DEV_HEADER: "false"
})

/** A given runtime that trusts every caller needs no auth service; in production the user has to set that. */
const trust = Effect.gen(function* (): Effect.fn.Return<Texts, Effect.Error<ReturnType<typeof readText>>> {
  const given = yield* readText(LaunchSettings.PROTO_AUTH_DEVELOPMENT_CREDENTIALS)
  const development = (yield* readSetting(ServiceSettings.NODE_ENV)) === DEVELOPMENT
  return development && given === undefined ? { PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true" } : {}
})

/**
 * The settings of the services that the stack decides: where their neighbours are, and how the sandbox is spoken to.
 * All others stay what the user gave.
 */
export const serviceSettings = Effect.fn("serviceSettings")(function* (
  settings: StackSettings,
  { authUrl, controlPlaneUrl, embeddedUrl, launcherUrl, runtimeAddress }: Neighbours
) {
  const sandbox = settings.runtimeAddress === undefined
  const tls = yield* readSetting(RuntimeSettings.RUNTIME_TLS)
  const insecure = (yield* readText(RuntimeSettings.RUNTIME_ALLOW_INSECURE)) ?? "true"
  const callbackPort = yield* readText(LaunchSettings.PROTO_CANCEL_CALLBACK_PORT_BASE)
  const limit = (yield* readText(ServiceSettings.THROTTLE_LIMIT)) ?? GENEROUS_LIMIT
  const credentials = authUrl !== undefined ? tokens(authUrl) : sandbox ? NAMES : yield* trust
  const origins = yield* readSetting(ServiceSettings.CORS_ORIGIN)
  const texts: Texts = {
    ...(sandbox ? SANDBOX : {}),
    ...credentials,
    THROTTLE_LIMIT: limit,
    THROTTLE_READ_LIMIT: (yield* readText(ServiceSettings.THROTTLE_READ_LIMIT)) ?? GENEROUS_LIMIT,
    RUNTIME_ADDRESS: runtimeAddress,
    PACKS_DIR: settings.packsDir,
    LAUNCH_DATA_DIR: (yield* readText(LaunchSettings.LAUNCH_DATA_DIR)) ?? settings.dataDir,
    ...(embeddedUrl !== undefined && (yield* peopleDatabase(embeddedUrl))),
    PROTO_RUNTIME_ADDRESS: runtimeAddress,
    PROTO_RUNTIME_TLS: String(tls && !sandbox),
    PROTO_RUNTIME_TLS_CA_FILE: sandbox ? "" : ((yield* readText(RuntimeSettings.RUNTIME_TLS_CA_FILE)) ?? ""),
    PROTO_RUNTIME_ALLOW_INSECURE: sandbox ? "true" : insecure,
    PROTO_CANCEL_CALLBACK_PORT_BASE: callbackPort ?? String(CANCEL_CALLBACK_PORT_BASE),
    PROTO_CONTROL_PLANE_URL: controlPlaneUrl,
    LAUNCHER_PUBLIC_URL: (yield* readText(ControlPlaneSettings.LAUNCHER_PUBLIC_URL)) ?? launcherUrl,
    CORS_ORIGIN: [...new Set([...consoleOrigins(controlPlaneUrl), ...origins])].join(","),
    ...(settings.apiKey !== undefined && { PROTO_CONTROL_PLANE_API_KEY: Redacted.value(settings.apiKey) }),
    ...(settings.apiKeyName !== undefined && { LAUNCHER_KEY_NAME: settings.apiKeyName })
  }
  return texts
})

/**
 * The seats of people have a schema of their own in the embedded database. The role of a given one may lack the right
 * to create a schema: its user names the database of the seats.
 */
const peopleDatabase = Effect.fnUntraced(function* (url: string) {
  const given = yield* readText(LaunchSettings.LAUNCHER_DATABASE_URL)
  // With a database for its tasks, agents that speak A2A reach the service like every other caller.
  const a2a = (yield* readText(LaunchSettings.A2A_ENABLED)) ?? "true"
  const texts: Texts = { A2A_ENABLED: a2a, ...(given === undefined && { LAUNCHER_DATABASE_URL: url }) }
  return texts
})

/** Where browsers have the console from: it calls the launch service from there. */
const consoleOrigins = (controlPlaneUrl: string): ReadonlyArray<string> => {
  const { origin, port, protocol } = new URL(controlPlaneUrl)
  return [origin, `${protocol}//localhost:${port}`]
}

/** The user's configuration with the given texts in front of it. */
export const withTexts = (texts: Texts) =>
  Effect.map(ConfigProvider.ConfigProvider, (given) =>
    ConfigProvider.orElse(ConfigProvider.fromEnv({ env: texts, preserveEmptyStrings: true }), given)
  )
