import { tmpdir, userInfo } from "node:os"
import type { SignInKind } from "@runplane/domain"
import {
  defaultsOf,
  LaunchSettings,
  listenHost,
  readSettings,
  ServiceSettings,
  type SettingValues
} from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { type AgentUser, agentUser, findUser } from "./common/AgentUser.ts"
import { invalidConfig } from "./common/LaunchErrors.ts"

const settings = {
  serviceName: LaunchSettings.SERVICE_NAME,
  environment: ServiceSettings.NODE_ENV,
  packsDir: LaunchSettings.PACKS_DIR,
  agentsDir: LaunchSettings.AGENTS_DIR,
  policiesDir: LaunchSettings.POLICIES_DIR,
  registerPolicies: LaunchSettings.REGISTER_POLICIES_ON_LAUNCH,
  serviceRoot: LaunchSettings.SERVICE_ROOT,
  packsStrict: LaunchSettings.PACKS_STRICT,
  registryCacheTtlMs: LaunchSettings.REGISTRY_CACHE_TTL_MS,
  autoBootstrapAgents: LaunchSettings.AUTO_BOOTSTRAP_EXAMPLE_AGENTS,
  pythonPath: LaunchSettings.EXAMPLE_AGENT_PYTHON_PATH,
  nodePath: LaunchSettings.EXAMPLE_AGENT_NODE_PATH,
  hostEnvAllow: LaunchSettings.HOST_ENV_ALLOW,
  allowPrivateAgents: LaunchSettings.A2A_ALLOW_PRIVATE,
  attachConfirmationMs: LaunchSettings.EXAMPLE_AGENT_ATTACH_CONFIRMATION_MS,
  peopleRetentionDays: LaunchSettings.PEOPLE_RETENTION_DAYS,
  maxAgents: LaunchSettings.EXAMPLE_AGENT_MAX_PROCESSES,
  maxWaitingLaunches: LaunchSettings.EXAMPLE_LAUNCH_QUEUE_LIMIT,
  queueTimeoutMs: LaunchSettings.EXAMPLE_LAUNCH_QUEUE_TIMEOUT_MS,
  publicControlPlaneUrl: LaunchSettings.CONTROL_PLANE_PUBLIC_URL,
  agentLogBytesPerSecond: LaunchSettings.EXAMPLE_AGENT_LOG_BYTES_PER_SECOND,
  sessionOpenTimeoutMs: LaunchSettings.EXAMPLE_AGENT_SESSION_TIMEOUT_MS,
  agentExitGraceMs: LaunchSettings.EXAMPLE_AGENT_EXIT_GRACE_MS,
  shadowGraceMs: LaunchSettings.EXAMPLE_SHADOW_GRACE_MS,
  agentStopGraceMs: LaunchSettings.EXAMPLE_AGENT_STOP_GRACE_MS,
  runtimeAddress: LaunchSettings.PROTO_RUNTIME_ADDRESS,
  runtimeTls: LaunchSettings.PROTO_RUNTIME_TLS,
  runtimeTlsCaFile: LaunchSettings.PROTO_RUNTIME_TLS_CA_FILE,
  runtimeAllowInsecure: LaunchSettings.PROTO_RUNTIME_ALLOW_INSECURE
}

const authSettings = {
  url: LaunchSettings.PROTO_AUTH_SERVICE_URL,
  timeoutMs: LaunchSettings.PROTO_AUTH_SERVICE_TIMEOUT_MS,
  tokenTtlSeconds: LaunchSettings.PROTO_AUTH_TOKEN_TTL_SECONDS,
  scopeOverrides: LaunchSettings.PROTO_AUTH_SCOPES_JSON
}

const signInSettings = {
  keys: ServiceSettings.AUTH_API_KEYS,
  issuer: ServiceSettings.OIDC_ISSUER,
  clientId: LaunchSettings.OIDC_CLIENT_ID
}

const callbackSettings = {
  host: LaunchSettings.PROTO_CANCEL_CALLBACK_HOST,
  portBase: LaunchSettings.PROTO_CANCEL_CALLBACK_PORT_BASE,
  path: LaunchSettings.PROTO_CANCEL_CALLBACK_PATH
}

const controlPlaneSettings = {
  url: LaunchSettings.PROTO_CONTROL_PLANE_URL,
  timeoutMs: LaunchSettings.PROTO_CONTROL_PLANE_TIMEOUT_MS,
  apiKey: LaunchSettings.PROTO_CONTROL_PLANE_API_KEY
}

const databaseSettings = {
  url: LaunchSettings.LAUNCHER_DATABASE_URL,
  password: LaunchSettings.LAUNCHER_DATABASE_PASSWORD,
  caFile: LaunchSettings.LAUNCHER_DATABASE_TLS_CA_FILE
}

const slackSettings = {
  signingSecret: LaunchSettings.LAUNCHER_SLACK_SIGNING_SECRET,
  team: LaunchSettings.LAUNCHER_SLACK_TEAM,
  botToken: LaunchSettings.LAUNCHER_SLACK_BOT_TOKEN,
  publicUrl: LaunchSettings.LAUNCHER_PUBLIC_URL
}

const a2aSettings = { isEnabled: LaunchSettings.A2A_ENABLED, publicUrl: LaunchSettings.LAUNCHER_PUBLIC_URL }

const defaults = defaultsOf(settings)

/** The Slack app of the service. */
export interface LauncherSlack {
  readonly signingSecret: Redacted.Redacted
  /** The only workspace that is accepted. */
  readonly team: string
  /** Undefined: the app writes no messages by itself. */
  readonly botToken: Redacted.Redacted | undefined
  /** Where people reach this service, without a slash at the end. */
  readonly publicUrl: string
}

/** How other agents reach the scenarios of the service. */
export interface LauncherA2a {
  /** The address of this service for them, without a slash at the end. */
  readonly publicUrl: string
}

/** The database of the seats of people. */
export interface LauncherDatabase {
  readonly url: string
  readonly password?: string | undefined
  readonly caFile?: string | undefined
}

/** The auth service that mints the agents' credentials. */
export type AuthSettings = SettingValues<typeof authSettings>

/** Where agents listen for cancel requests. */
export type CancelCallbackSettings = SettingValues<typeof callbackSettings>

export type ControlPlaneSettings = Omit<SettingValues<typeof controlPlaneSettings>, "apiKey"> & {
  readonly apiKey: Redacted.Redacted | undefined
}

/** The settings after reading; the table describes each of them. Folders are absolute, all times in ms. */
export type LauncherSettingsShape = SettingValues<typeof settings> & {
  /** Folder of the agents' bootstrap folders; created when absent, closed to other users. */
  readonly bootstrapDir: string
  /** What survives a restart of the service; created when absent. Undefined: nothing does. */
  readonly dataDir: string | undefined
  /** Undefined: agents run as the user of the service. */
  readonly agentUser: AgentUser | undefined
  /** Undefined: agents present development credentials. */
  readonly auth: AuthSettings | undefined
  /** Undefined: agents take no cancel requests. */
  readonly cancelCallback: CancelCallbackSettings | undefined
  /** Undefined: runs are submitted nowhere. */
  readonly controlPlane: ControlPlaneSettings | undefined
  /** Undefined: no participant is a person. */
  readonly database: LauncherDatabase | undefined
  /** What people sign in with; undefined where it is not known. */
  readonly signIn: SignInKind | undefined
  /** Undefined: no scenario is a skill of other agents. */
  readonly a2a: LauncherA2a | undefined
  /** Undefined: no press in Slack is accepted. */
  readonly slack: LauncherSlack | undefined
}

/**
 * The settings of a caller that composes the service itself; the others have their defaults. Relative paths start at
 * the cwd.
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
      const given = yield* read(settings)
      const auth = yield* read(authSettings)
      const cancelCallback = yield* read(callbackSettings)
      const { user } = yield* read({ user: LaunchSettings.EXAMPLE_AGENT_USER })
      const { dataDir } = yield* read({ dataDir: LaunchSettings.LAUNCH_DATA_DIR })
      const { apiKey, timeoutMs, url } = yield* read(controlPlaneSettings)
      const { caFile, password, url: databaseUrl } = yield* read(databaseSettings)
      if (auth.url === "" && !(yield* read(developmentCredentials)).allowed) return yield* invalidConfig(NO_AUTH)
      const { clientId, issuer, keys } = yield* read(signInSettings)
      const hasIssuer = issuer !== undefined && clientId !== undefined
      return yield* resolve({
        ...given,
        signIn: hasIssuer ? "oidc" : keys.length > 0 ? "key" : "none",
        dataDir: dataDir === "" ? undefined : dataDir,
        agentUser:
          user === undefined
            ? undefined
            : yield* Effect.mapError(agentUser(user, process.getuid?.(), findUser), invalidConfig),
        auth: auth.url === "" ? undefined : { ...auth, url: withoutSlash(auth.url) },
        cancelCallback: cancelCallback.host === "" ? undefined : cancelCallback,
        controlPlane:
          url === ""
            ? undefined
            : { url: withoutSlash(url), timeoutMs, apiKey: apiKey === "" ? undefined : Redacted.make(apiKey) },
        database: databaseUrl === undefined ? undefined : { url: databaseUrl, password, caFile },
        a2a: yield* a2aOf({ hasDatabase: databaseUrl !== undefined, hasControlPlane: url !== "" }),
        slack: yield* slackOf(databaseUrl !== undefined)
      })
    })
  )

  /** Settings from code: for a composition that runs the service inside another process, and for tests. */
  static readonly layerFrom = (options: LauncherOptions) => Layer.effect(LauncherSettings, resolve(options))
}

/** Where people reach the control plane, without a slash at the end; undefined when runs are submitted nowhere. */
export const controlPlaneForPeople = ({
  controlPlane,
  publicControlPlaneUrl
}: Pick<LauncherSettingsShape, "controlPlane" | "publicControlPlaneUrl">): string | undefined =>
  (publicControlPlaneUrl || controlPlane?.url)?.replace(/\/+$/, "")

/** HOST and PORT. */
export const listenSettings = Effect.gen(function* () {
  const { port } = yield* read({ port: LaunchSettings.PORT })
  return { host: yield* Effect.mapError(listenHost, ({ message }) => invalidConfig(message)), port }
})

/** The values of settings; one that cannot be used stops the start. */
const read = <Settings extends Parameters<typeof readSettings>[0]>(given: Settings) =>
  Effect.mapError(readSettings(given), ({ message }) => invalidConfig(message))

/** The Slack app; one that lacks a setting stops the start, since its presses would come to nothing. */
const slackOf = Effect.fnUntraced(function* (hasDatabase: boolean) {
  const { botToken, publicUrl, signingSecret, team } = yield* read(slackSettings)
  if (signingSecret === undefined) {
    const alone = team === undefined ? (botToken === undefined ? undefined : "BOT_TOKEN") : "TEAM"
    if (alone === undefined) return undefined
    return yield* invalidConfig(`LAUNCHER_SLACK_${alone} needs LAUNCHER_SLACK_SIGNING_SECRET`)
  }
  const needs = (name: string) => invalidConfig(`LAUNCHER_SLACK_SIGNING_SECRET needs ${name}`)
  if (team === undefined) return yield* needs("LAUNCHER_SLACK_TEAM: presses of other workspaces are refused")
  if (publicUrl === "") return yield* needs("LAUNCHER_PUBLIC_URL: messages link to the page of their question")
  if (!hasDatabase) return yield* needs("LAUNCHER_DATABASE_URL: it has the questions")
  const slack: LauncherSlack = {
    signingSecret: Redacted.make(signingSecret),
    team,
    botToken: botToken === undefined ? undefined : Redacted.make(botToken),
    publicUrl: withoutSlash(publicUrl)
  }
  return slack
})

/** A service that lacks what its tasks need does not start. */
const a2aOf = Effect.fnUntraced(function* (has: { readonly hasDatabase: boolean; readonly hasControlPlane: boolean }) {
  const { isEnabled, publicUrl } = yield* read(a2aSettings)
  if (!isEnabled) return undefined
  const needs = (name: string) => invalidConfig(`A2A_ENABLED needs ${name}`)
  if (publicUrl === "") return yield* needs("LAUNCHER_PUBLIC_URL: the agent card names the address of the service")
  if (!has.hasDatabase) return yield* needs("LAUNCHER_DATABASE_URL: it has the tasks")
  if (!has.hasControlPlane) return yield* needs("PROTO_CONTROL_PLANE_URL: it has the runs of the tasks")
  const a2a: LauncherA2a = { publicUrl: withoutSlash(publicUrl) }
  return a2a
})

const withoutSlash = (url: string) => url.replace(/\/+$/, "")

const developmentCredentials = { allowed: LaunchSettings.PROTO_AUTH_DEVELOPMENT_CREDENTIALS }

/**
 * A service without an auth service does not start, unless its agents may present development credentials, which a
 * runtime with real authentication refuses.
 */
const NO_AUTH =
  "PROTO_AUTH_SERVICE_URL is required (or PROTO_AUTH_DEVELOPMENT_CREDENTIALS=true for a runtime that trusts every caller)"

const resolve = Effect.fnUntraced(function* (options: LauncherOptions) {
  const path = yield* Path.Path
  const packsDir = path.resolve(options.packsDir ?? defaults.packsDir)
  const settings: LauncherSettingsShape = {
    ...defaults,
    // The folder is closed to other users of the machine, so each of them has one, and one for each user of agents.
    bootstrapDir: path.join(
      tmpdir(),
      ["macp-bootstrap", userInfo().uid, ...(options.agentUser === undefined ? [] : [options.agentUser.uid])].join("-")
    ),
    agentUser: undefined,
    dataDir: undefined,
    auth: undefined,
    cancelCallback: undefined,
    controlPlane: undefined,
    database: undefined,
    signIn: undefined,
    a2a: undefined,
    slack: undefined,
    ...options,
    ...(options.dataDir !== undefined && { dataDir: path.resolve(options.dataDir) }),
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
