import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import type { Role } from "@runplane/api"
import { OWN_PACKS } from "@runplane/launcher"
import {
  actorsOf,
  readSetting,
  readSettings,
  ServiceSettings,
  StackSettings as Settings,
  type SettingsRefused,
  settingRefused
} from "@runplane/server"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import type * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"

export interface StackSettings {
  readonly host: string
  readonly launcherPort: number
  readonly controlPlanePort: number
  readonly runtimePort: number
  /** Whether the sandbox accepts names as credentials. */
  readonly acceptsNames: boolean
  /** Undefined: the default, or a free one. */
  readonly authPort: number | undefined
  /** Undefined: the default, or a free one. */
  readonly postgresPort: number | undefined
  /** Absolute. */
  readonly dataDir: string
  /** Absolute. */
  readonly packsDir: string
  /** Undefined: the embedded server. */
  readonly databaseUrl: string | undefined
  /** `host:port`; undefined: the sandbox. */
  readonly runtimeAddress: string | undefined
  /** Whether our auth service mints the credentials for the runtime: by default those for the sandbox only. */
  readonly devAuth: boolean
  /** The key of the stack's own calls, when the services require one. */
  readonly apiKey: Redacted.Redacted | undefined
  /** The name of that key, by which the control plane knows the launch service. */
  readonly apiKeyName: string | undefined
  readonly logLevel: LogLevel.LogLevel
}

/** Reads the environment; relative folders start where the program is started. An empty value counts as unset. */
export const readStackSettings: Effect.Effect<StackSettings, SettingsRefused> = Effect.gen(function* () {
  const given = yield* readSettings(Settings)
  const packsDir = given.PACKS_DIR === undefined ? defaultPacks() : resolve(given.PACKS_DIR)
  if (!isFolder(packsDir)) {
    return yield* settingRefused("PACKS_DIR", `names no folder: ${packsDir}`)
  }
  const key = yield* ownKey(given.AUTH_API_KEYS)
  if (key === undefined && (yield* readSetting(ServiceSettings.OIDC_ISSUER)) !== undefined) {
    return yield* settingRefused("AUTH_API_KEYS", "must hold a key for the stack's own calls when OIDC_ISSUER is set")
  }
  return {
    host: given.HOST,
    launcherPort: given.LAUNCHER_PORT,
    controlPlanePort: given.CONTROL_PLANE_PORT,
    runtimePort: given.SANDBOX_PORT,
    acceptsNames: given.SANDBOX_ACCEPT_NAMES,
    authPort: given.AUTH_PORT,
    postgresPort: given.RUNPLANE_POSTGRES_PORT,
    dataDir: resolve(given.RUNPLANE_DATA_DIR),
    packsDir,
    databaseUrl: given.DATABASE_URL,
    runtimeAddress: given.RUNTIME_ADDRESS,
    devAuth: given.DEV_AUTH ?? given.RUNTIME_ADDRESS === undefined,
    apiKey: key === undefined ? undefined : Redacted.make(key),
    apiKeyName: key === undefined ? undefined : yield* nameOf(key, given.AUTH_API_KEYS),
    logLevel: given.LOG_LEVEL
  }
})

/** The key of the stack's own calls: the first of an administrator, else of an operator; others may not launch. */
const ownKey = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
  if (keys.length === 0) return undefined
  const roles = yield* readSetting(ServiceSettings.AUTH_API_KEY_ROLES)
  const keyOf = (role: Role) => keys.find((_, index) => (roles[index] ?? "admin") === role)
  const key = keyOf("admin") ?? keyOf("operator")
  if (key !== undefined) return key
  return yield* settingRefused(
    "AUTH_API_KEY_ROLES",
    "must give one key the role admin or operator: the stack's own calls need it"
  )
})

/** The name of a key in the services. */
const nameOf = Effect.fnUntraced(function* (key: string, keys: ReadonlyArray<string>) {
  const names = yield* readSetting(ServiceSettings.AUTH_API_KEY_NAMES)
  const actors = yield* Effect.orDie(actorsOf(keys, names))
  return actors[keys.indexOf(key)]?.actorId
}, Effect.provide(Digest.layerWebCrypto))

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()

/** The packs of the folder of the start; Runplane's own where that has none. */
const defaultPacks = () => {
  const here = resolve("packs")
  return isFolder(here) ? here : OWN_PACKS
}
