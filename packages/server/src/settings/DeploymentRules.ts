import * as Result from "effect/Result"
import type { SettingsReport, SettingTexts } from "./CheckSettings.ts"
import { ControlPlaneSettings } from "./ControlPlaneSettings.ts"
import { exposureOf, isLoopback, readDatabaseAddress } from "./DatabaseAddress.ts"
import { LaunchSettings } from "./LaunchSettings.ts"
import type { SettingProblem } from "./ReadSettings.ts"
import { RuntimeSettings } from "./RuntimeSettings.ts"
import { ServiceSettings } from "./ServiceSettings.ts"
import type { Setting } from "./Setting.ts"

/** Environments that may run without API keys. */
const OPEN_ENVIRONMENTS: ReadonlySet<string> = new Set(["development", "test"])

/** The settings that configure the authentication of a service. */
export interface AuthenticationSettings {
  readonly keys: ReadonlyArray<string>
  readonly issuer: string | undefined
  readonly audience: ReadonlyArray<string>
}

/** Whether every caller is let in: there are neither keys nor an issuer of tokens. */
export const isOpen = ({ issuer, keys }: Pick<AuthenticationSettings, "keys" | "issuer">): boolean =>
  keys.length === 0 && issuer === undefined

/** Outside development a service needs authentication, and refuses tokens for another audience. */
export const authenticationFaults = (
  settings: AuthenticationSettings,
  environment: string
): ReadonlyArray<SettingProblem> => {
  const faults: Array<SettingProblem> = []
  if (isOpen(settings) && !OPEN_ENVIRONMENTS.has(environment)) {
    const problem = `must hold at least one key when NODE_ENV is ${environment}`
    faults.push({ variable: "AUTH_API_KEYS", problem })
  }
  if (settings.issuer !== undefined && settings.audience.length === 0) {
    const problem = "must name at least one audience when OIDC_ISSUER is set"
    faults.push({ variable: "OIDC_AUDIENCE", problem })
  }
  return faults
}

/** One connection is held for the locks of the runs, so nothing could be read or written with a single one. */
const MIN_PRODUCTION_POOL = 2

/**
 * The faults of the settings of the control plane taken together: a service for production starts safely or not at all.
 */
export const validateDeployment = (texts: SettingTexts): SettingsReport => {
  const faults: Array<SettingProblem> = []
  const warnings: Array<SettingProblem> = []
  const environment = settledValue(texts, ServiceSettings.NODE_ENV, "")
  const value = <A>(setting: Setting<A>) => settledValue(texts, setting, environment)

  faults.push(...keyFaults(texts, environment))
  const database = readDatabaseAddress(
    value(ControlPlaneSettings.DATABASE_URL),
    value(ControlPlaneSettings.DATABASE_TLS_CA_FILE)
  )
  if (Result.isFailure(database)) faults.push({ variable: "DATABASE_URL", problem: database.failure })
  if (environment === "production") {
    const exposure = Result.isSuccess(database) ? exposureOf(database.success) : undefined
    if (exposure !== undefined) warnings.push({ variable: "DATABASE_URL", problem: exposure })
    if (value(ControlPlaneSettings.DB_POOL_MAX) < MIN_PRODUCTION_POOL) {
      faults.push({ variable: "DB_POOL_MAX", problem: `must be at least ${MIN_PRODUCTION_POOL} in production` })
    }
    if (!value(RuntimeSettings.RUNTIME_TLS) && !value(RuntimeSettings.RUNTIME_ALLOW_INSECURE)) {
      const problem = "must be true in production, unless RUNTIME_ALLOW_INSECURE is true"
      faults.push({ variable: "RUNTIME_TLS", problem })
    }
    if (value(RuntimeSettings.RUNTIME_USE_DEV_HEADER) && !texts.has("RUNTIME_BEARER_TOKEN")) {
      const problem = "is not allowed in production without RUNTIME_BEARER_TOKEN"
      faults.push({ variable: "RUNTIME_USE_DEV_HEADER", problem })
    }
  }
  faults.push(...archiveFaults(texts, value(ControlPlaneSettings.RETENTION_REQUIRES_ARCHIVE)))
  if (servesOthers(texts) && value(ServiceSettings.CONSOLE_ENABLED) && !texts.has("LAUNCHER_PUBLIC_URL")) {
    warnings.push({ variable: "LAUNCHER_PUBLIC_URL", problem: "is not set: the console has no launch pages" })
  }
  if (texts.has("RUNTIME_TLS_CA_FILE") && !value(RuntimeSettings.RUNTIME_TLS)) {
    warnings.push({ variable: "RUNTIME_TLS_CA_FILE", problem: "changes nothing without RUNTIME_TLS" })
  }
  return { faults, warnings }
}

const archiveFaults = (texts: SettingTexts, retentionRequires: boolean): ReadonlyArray<SettingProblem> => {
  const url = texts.get("ARCHIVE_URL")
  if (url === undefined) {
    return retentionRequires
      ? [{ variable: "RETENTION_REQUIRES_ARCHIVE", problem: "needs ARCHIVE_URL: retention would delete no run" }]
      : []
  }
  if (!url.startsWith("s3:")) return []
  return ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    .filter((variable) => !texts.has(variable))
    .map((variable) => ({ variable, problem: "must be set when ARCHIVE_URL is a bucket" }))
}

/** What is wrong with the settings of the launch service taken together. */
export const validateLaunchDeployment = (texts: SettingTexts): SettingsReport => {
  const environment = settledValue(texts, ServiceSettings.NODE_ENV, "")
  const internal = settledValue(texts, LaunchSettings.PROTO_CONTROL_PLANE_URL, environment)
  const warnings: Array<SettingProblem> = []
  if (servesOthers(texts) && internal !== "" && !texts.has("CONTROL_PLANE_PUBLIC_URL")) {
    const problem = `is not set: the links of a launch lead to ${internal}, the address of PROTO_CONTROL_PLANE_URL`
    warnings.push({ variable: "CONTROL_PLANE_PUBLIC_URL", problem })
  }
  const faults = [
    ...keyFaults(texts, environment),
    ...seatFaults(texts, environment, warnings),
    ...mailFaults(texts, warnings)
  ]
  return { faults, warnings }
}

/** Mails to people: each has a sender, and should have a link. */
const mailFaults = (texts: SettingTexts, warnings: Array<SettingProblem>): ReadonlyArray<SettingProblem> => {
  if (!texts.has(LaunchSettings.LAUNCHER_SMTP_URL.name)) return []
  if (!texts.has(LaunchSettings.LAUNCHER_PUBLIC_URL.name)) {
    warnings.push({ variable: LaunchSettings.LAUNCHER_PUBLIC_URL.name, problem: "is not set: mails have no link" })
  }
  const variable = LaunchSettings.LAUNCHER_SMTP_FROM.name
  return texts.has(variable) ? [] : [{ variable, problem: "must be set when LAUNCHER_SMTP_URL is" }]
}

/** The database of seats, and the runtime in which they act. */
const seatFaults = (
  texts: SettingTexts,
  environment: string,
  warnings: Array<SettingProblem>
): ReadonlyArray<SettingProblem> => {
  const variable = LaunchSettings.LAUNCHER_DATABASE_URL.name
  const url = settledValue(texts, LaunchSettings.LAUNCHER_DATABASE_URL, environment)
  if (url === undefined) return []
  const caFile = settledValue(texts, LaunchSettings.LAUNCHER_DATABASE_TLS_CA_FILE, environment)
  const read = readDatabaseAddress(url, caFile, LaunchSettings.LAUNCHER_DATABASE_TLS_CA_FILE.name)
  const faults: Array<SettingProblem> = []
  if (settledValue(texts, LaunchSettings.PROTO_RUNTIME_ADDRESS, environment) === "") {
    faults.push({ variable, problem: "needs PROTO_RUNTIME_ADDRESS: seats act in the sessions of that runtime" })
  }
  if (Result.isFailure(read)) faults.push({ variable, problem: read.failure })
  else if (environment === "production") {
    const exposure = exposureOf(read.success)
    if (exposure !== undefined) warnings.push({ variable, problem: exposure })
  }
  return faults
}

/** Whether a service is meant for production and listens beyond the loopback, so that its addresses must be public. */
const servesOthers = (texts: SettingTexts): boolean => {
  const environment = settledValue(texts, ServiceSettings.NODE_ENV, "")
  if (environment !== "production") return false
  const host = settledValue(texts, ServiceSettings.HOST, environment)
  if (host !== undefined) return !isLoopback(host)
  const keys = settledValue(texts, ServiceSettings.AUTH_API_KEYS, environment)
  return !isOpen({ keys, issuer: settledValue(texts, ServiceSettings.OIDC_ISSUER, environment) })
}

/** Characters of a key outside of development: a random one of them cannot be guessed. */
const MIN_KEY_LENGTH = 16

/** Different characters of such a key. A random key of 16 hexadecimal digits has fewer once in two million. */
const MIN_KEY_CHARACTERS = 5

/**
 * What is wrong with keys outside of development. A key that follows the last role would be an administrator's, and of
 * a repeated key only one role can count.
 */
const weakKeyFaults = (
  keys: ReadonlyArray<string>,
  roleCount: number,
  environment: string
): ReadonlyArray<SettingProblem> => {
  if (OPEN_ENVIRONMENTS.has(environment)) return []
  const when = `when NODE_ENV is ${environment}`
  const faults: Array<SettingProblem> = []
  if (keys.some((key) => key.length < MIN_KEY_LENGTH)) {
    faults.push({
      variable: "AUTH_API_KEYS",
      problem: `must hold keys of at least ${MIN_KEY_LENGTH} characters ${when}`
    })
  }
  if (keys.some((key) => key.length >= MIN_KEY_LENGTH && new Set(key).size < MIN_KEY_CHARACTERS)) {
    faults.push({
      variable: "AUTH_API_KEYS",
      problem: `must hold keys of at least ${MIN_KEY_CHARACTERS} different characters ${when}`
    })
  }
  if (new Set(keys).size < keys.length) {
    faults.push({ variable: "AUTH_API_KEYS", problem: `must hold each key once ${when}` })
  }
  if (roleCount > 0 && roleCount < keys.length) {
    faults.push({ variable: "AUTH_API_KEY_ROLES", problem: `must hold a role for each key of AUTH_API_KEYS ${when}` })
  }
  return faults
}

const keyFaults = (texts: SettingTexts, environment: string): ReadonlyArray<SettingProblem> => {
  const value = <A>(setting: Setting<A>) => settledValue(texts, setting, environment)
  const keys = value(ServiceSettings.AUTH_API_KEYS)
  const issuer = value(ServiceSettings.OIDC_ISSUER)
  const faults = authenticationFaults({ keys, issuer, audience: value(ServiceSettings.OIDC_AUDIENCE) }, environment)
  if (keys.length === 0) return faults
  const tooMany = (count: number, variable: string, problem: string) =>
    count > keys.length ? [{ variable, problem }] : []
  const roles = value(ServiceSettings.AUTH_API_KEY_ROLES)
  return [
    ...faults,
    ...weakKeyFaults(keys, roles.length, environment),
    ...tooMany(
      value(ServiceSettings.AUTH_API_KEY_NAMES).length,
      "AUTH_API_KEY_NAMES",
      "names more keys than AUTH_API_KEYS holds"
    ),
    ...tooMany(roles.length, "AUTH_API_KEY_ROLES", "has more roles than AUTH_API_KEYS holds keys")
  ]
}

/** What the program will go by; a text that stops the start has been reported by its row. */
const settledValue = <A>(texts: SettingTexts, { fallback, name, type }: Setting<A>, environment: string): A => {
  const text = texts.get(name)
  const reading = text === undefined ? undefined : type.read(text)
  return reading === undefined || reading._tag === "Fault" || reading.value === undefined
    ? fallback(environment)
    : reading.value
}
