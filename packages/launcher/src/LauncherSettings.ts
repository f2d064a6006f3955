import { tmpdir, userInfo } from "node:os"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { InvalidConfig } from "./LaunchErrors.ts"

/**
 * The launch service's settings after reading (launch-details section 10.5). All times in ms unless the name says so.
 */
export interface LauncherSettingsShape {
  /** Name of this service: `service` of /healthz, `source` of session metadata, default requester. */
  readonly serviceName: string
  /** NODE_ENV. */
  readonly environment: string
  /** Absolute path. */
  readonly packsDir: string
  /** Absolute path of the folder that holds `profiles/` and `manifests/`. */
  readonly agentsDir: string
  /** Absolute path of the folder that holds policy files. */
  readonly policiesDir: string
  /** Whether those policies are registered at start, through the control plane. */
  readonly registerPolicies: boolean
  /** Absolute path that a manifest's relative `host.cwd` starts from. */
  readonly serviceRoot: string
  /** Folder of the agents' bootstrap files; created when absent, for this user only. */
  readonly bootstrapDir: string
  /** 0 = read the packs at every request. */
  readonly registryCacheTtlMs: number
  readonly autoBootstrapAgents: boolean
  readonly pythonPath: string
  /** Interpreter of node agents; empty = the one that runs this service. */
  readonly nodePath: string
  /** How long a started agent must live to count as attached. */
  readonly attachConfirmationMs: number
  /** How long an agent may take over SIGTERM before it is killed. */
  readonly agentStopGraceMs: number
  /** gRPC `host:port` given to agents; may be empty. */
  readonly runtimeAddress: string
  readonly runtimeTls: boolean
  readonly runtimeAllowInsecure: boolean
  /** Undefined = agents present development credentials. */
  readonly auth: AuthSettings | undefined
  readonly cancelCallback: CancelCallbackSettings | undefined
  readonly controlPlane: ControlPlaneSettings | undefined
}

export interface AuthSettings {
  readonly url: string
  readonly timeoutMs: number
  readonly tokenTtlSeconds: number
  /** PROTO_AUTH_SCOPES_JSON: keys that replace the default scopes of one sender; null removes a key. */
  readonly scopeOverrides: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface CancelCallbackSettings {
  readonly host: string
  /** 0 = each agent listens on a port of its own choosing. */
  readonly portBase: number
  readonly path: string
}

export interface ControlPlaneSettings {
  readonly url: string
  readonly timeoutMs: number
  readonly apiKey: Redacted.Redacted | undefined
}

/** The name given to the service where nothing else is set. */
export const DEFAULT_SERVICE_NAME = "runplane-launcher"

/** Launch-details section 5.6, "Confirmation". */
export const ATTACH_CONFIRMATION_MS = 400

/** Launch-details section 5.6, "Stop". */
export const AGENT_STOP_GRACE_MS = 5_000

const DEFAULT_HOST = "0.0.0.0"
const DEFAULT_PORT = 3000
const MAX_PORT = 65_535
/** Timers take no more, ms; what asks for more means "very long". */
const MAX_NUMBER = 2 ** 31 - 1
const DEFAULT_CONTROL_PLANE_TIMEOUT_MS = 5_000
const DEFAULT_AUTH_TIMEOUT_MS = 5_000
const DEFAULT_AUTH_TOKEN_TTL_SECONDS = 3_600

const defaults = {
  serviceName: DEFAULT_SERVICE_NAME,
  environment: "development",
  packsDir: "packs",
  agentsDir: "",
  policiesDir: "",
  registerPolicies: true,
  serviceRoot: ".",
  registryCacheTtlMs: 0,
  autoBootstrapAgents: true,
  pythonPath: "python3",
  nodePath: "",
  attachConfirmationMs: ATTACH_CONFIRMATION_MS,
  agentStopGraceMs: AGENT_STOP_GRACE_MS,
  runtimeAddress: "",
  runtimeTls: true,
  runtimeAllowInsecure: false
}

/**
 * What a caller that composes the service itself may set; the rest takes its default. Relative paths start at the cwd.
 */
export type LauncherOptions = Partial<LauncherSettingsShape>

/** The settings as a service, read once. */
export class LauncherSettings extends Context.Service<LauncherSettings, LauncherSettingsShape>()(
  "runplane/launcher/LauncherSettings"
) {
  /** Settings from the environment; a bad one stops the start with INVALID_CONFIG and the variable's name. */
  static readonly layer = Layer.effect(
    LauncherSettings,
    Effect.gen(function* () {
      const text = (name: string, fallback: string) =>
        Effect.map(variable(name), (value) => Option.getOrElse(value, () => fallback))
      const url = yield* authServiceUrl
      const controlPlaneUrl = yield* address("PROTO_CONTROL_PLANE_URL")
      const apiKey = yield* text("PROTO_CONTROL_PLANE_API_KEY", "")
      const callbackHost = yield* rawVariable("PROTO_CANCEL_CALLBACK_HOST")
      return yield* resolve({
        serviceName: yield* text("SERVICE_NAME", defaults.serviceName),
        environment: yield* text("NODE_ENV", defaults.environment),
        packsDir: yield* text("PACKS_DIR", defaults.packsDir),
        agentsDir: yield* text("AGENTS_DIR", defaults.agentsDir),
        policiesDir: yield* text("POLICIES_DIR", defaults.policiesDir),
        registerPolicies: yield* flag("REGISTER_POLICIES_ON_LAUNCH", defaults.registerPolicies),
        serviceRoot: yield* text("SERVICE_ROOT", defaults.serviceRoot),
        registryCacheTtlMs: yield* natural("REGISTRY_CACHE_TTL_MS", defaults.registryCacheTtlMs),
        autoBootstrapAgents: yield* flag("AUTO_BOOTSTRAP_EXAMPLE_AGENTS", defaults.autoBootstrapAgents),
        pythonPath: yield* text("EXAMPLE_AGENT_PYTHON_PATH", defaults.pythonPath),
        nodePath: yield* text("EXAMPLE_AGENT_NODE_PATH", defaults.nodePath),
        attachConfirmationMs: yield* natural("EXAMPLE_AGENT_ATTACH_CONFIRMATION_MS", defaults.attachConfirmationMs),
        agentStopGraceMs: yield* natural("EXAMPLE_AGENT_STOP_GRACE_MS", defaults.agentStopGraceMs),
        runtimeAddress: yield* text("PROTO_RUNTIME_ADDRESS", defaults.runtimeAddress),
        runtimeTls: yield* flag("PROTO_RUNTIME_TLS", defaults.runtimeTls),
        runtimeAllowInsecure: yield* flag("PROTO_RUNTIME_ALLOW_INSECURE", defaults.runtimeAllowInsecure),
        auth:
          url === ""
            ? undefined
            : {
                url: url.replace(/\/+$/, ""),
                timeoutMs: yield* natural("PROTO_AUTH_SERVICE_TIMEOUT_MS", DEFAULT_AUTH_TIMEOUT_MS),
                tokenTtlSeconds: yield* positive("PROTO_AUTH_TOKEN_TTL_SECONDS", DEFAULT_AUTH_TOKEN_TTL_SECONDS),
                scopeOverrides: yield* scopeOverrides
              },
        // An empty host is a decision (callbacks off), so it may not count as unset here.
        cancelCallback: Option.contains(callbackHost, "")
          ? undefined
          : {
              host: Option.getOrElse(callbackHost, () => "127.0.0.1"),
              portBase: yield* natural("PROTO_CANCEL_CALLBACK_PORT_BASE", 0),
              path: yield* text("PROTO_CANCEL_CALLBACK_PATH", "/agent/cancel")
            },
        controlPlane:
          controlPlaneUrl === ""
            ? undefined
            : {
                url: controlPlaneUrl.replace(/\/+$/, ""),
                timeoutMs: yield* natural("PROTO_CONTROL_PLANE_TIMEOUT_MS", DEFAULT_CONTROL_PLANE_TIMEOUT_MS),
                apiKey: apiKey === "" ? undefined : Redacted.make(apiKey)
              }
      })
    })
  )

  /** Settings from code: for a composition that runs the service inside another process, and for tests. */
  static readonly layerOptions = (options: LauncherOptions) => Layer.effect(LauncherSettings, resolve(options))
}

/** HOST and PORT; a port that is none stops the start. */
export const listenSettings = Effect.gen(function* () {
  const host = Option.getOrElse(yield* variable("HOST"), () => DEFAULT_HOST)
  const port = Option.getOrElse(yield* variable("PORT"), () => String(DEFAULT_PORT))
  if (/^\d{1,5}$/.test(port) && Number(port) <= MAX_PORT) return { host, port: Number(port) }
  return yield* new InvalidConfig({ message: `PORT must be a number from 0 to ${MAX_PORT}` })
})

const resolve = Effect.fnUntraced(function* (options: LauncherOptions) {
  const path = yield* Path.Path
  const packsDir = path.resolve(options.packsDir ?? defaults.packsDir)
  const settings: LauncherSettingsShape = {
    ...defaults,
    // The folder is closed to other users of the machine, so each of them has one.
    bootstrapDir: path.join(tmpdir(), `macp-bootstrap-${userInfo().uid}`),
    auth: undefined,
    cancelCallback: undefined,
    controlPlane: undefined,
    ...options,
    packsDir,
    agentsDir: options.agentsDir ? path.resolve(options.agentsDir) : path.join(packsDir, "_agents"),
    policiesDir: options.policiesDir ? path.resolve(options.policiesDir) : path.join(packsDir, "_policies"),
    serviceRoot: path.resolve(options.serviceRoot ?? defaults.serviceRoot)
  }
  if (settings.runtimeAddress !== "" && !settings.runtimeTls && !settings.runtimeAllowInsecure) {
    yield* Effect.logWarning(
      "PROTO_RUNTIME_TLS is off without PROTO_RUNTIME_ALLOW_INSECURE: agents will refuse to connect"
    )
  }
  return LauncherSettings.of(settings)
})

/**
 * A service without an auth service does not start (scenario-launch-service "Errors"), unless it is said that its
 * agents may present development credentials, which a runtime with real authentication refuses.
 */
const authServiceUrl = Effect.gen(function* () {
  const url = yield* address("PROTO_AUTH_SERVICE_URL")
  if (url !== "" || (yield* flag("PROTO_AUTH_DEVELOPMENT_CREDENTIALS", false))) return url
  return yield* new InvalidConfig({
    message:
      "PROTO_AUTH_SERVICE_URL is required (or PROTO_AUTH_DEVELOPMENT_CREDENTIALS=true for a runtime that trusts every caller)"
  })
})

/** A `PROTO_` name is read first and its `MACP_` alias second. */
const rawVariable = (name: string): Effect.Effect<Option.Option<string>, InvalidConfig> => {
  const alias = name.startsWith("PROTO_") ? [name.replace(/^PROTO_/, "MACP_")] : []
  return Effect.gen(function* () {
    for (const candidate of [name, ...alias]) {
      const value = yield* Config.option(Config.String(candidate))
      if (Option.isSome(value)) return Option.some(value.value.trim())
    }
    return Option.none<string>()
  }).pipe(Effect.mapError((error) => new InvalidConfig({ message: `${name} cannot be read: ${error.message}` })))
}

/** An empty value counts as unset. */
const variable = (name: string) =>
  Effect.map(
    rawVariable(name),
    Option.filter((value) => value !== "")
  )

const flag = (name: string, fallback: boolean) =>
  Effect.map(
    variable(name),
    Option.match({ onNone: () => fallback, onSome: (value) => /^(1|true|yes|on)$/i.test(value) })
  )

/** A number that cannot be read falls back to the default, as users of the service expect. */
const natural = (name: string, fallback: number) =>
  Effect.map(
    variable(name),
    Option.match({
      onNone: () => fallback,
      onSome: (value) => (/^\d+$/.test(value) ? Math.min(Number(value), MAX_NUMBER) : fallback)
    })
  )

/** Where another service is; empty when that is not said. */
const address = Effect.fnUntraced(function* (name: string) {
  const url = Option.getOrElse(yield* variable(name), () => "")
  if (url === "" || (/^https?:\/\//i.test(url) && URL.canParse(url))) return url
  return yield* new InvalidConfig({ message: `${name} must be an http or https address` })
})

const positive = Effect.fnUntraced(function* (name: string, fallback: number) {
  const value = Option.getOrElse(yield* variable(name), () => String(fallback))
  if (/^\d+$/.test(value) && Number(value) > 0) return Number(value)
  return yield* new InvalidConfig({ message: `${name} must be a positive integer` })
})

const scopeOverrides = Effect.gen(function* () {
  const name = "PROTO_AUTH_SCOPES_JSON"
  const text = yield* variable(name)
  if (Option.isNone(text)) return {}
  const parsed = yield* Effect.try({
    try: (): unknown => JSON.parse(text.value),
    catch: () => new InvalidConfig({ message: `${name} is not JSON` })
  })
  if (!isScopesBySender(parsed)) {
    return yield* new InvalidConfig({ message: `${name} must be an object of objects, keyed by sender` })
  }
  return parsed
})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isScopesBySender = (value: unknown): value is AuthSettings["scopeOverrides"] =>
  isRecord(value) && Object.values(value).every(isRecord)
