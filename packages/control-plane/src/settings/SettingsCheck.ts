import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { deploymentVariables, forgivenNumbers, rules } from "./SettingRules.ts"

/** A variable, and what is wrong with its value. */
export interface SettingFault {
  readonly variable: string
  readonly problem: string
}

/** The service does not start with these settings. Every fault has been logged on a line of its own. */
export class SettingsRefused extends Data.TaggedError("SettingsRefused")<{
  readonly faults: ReadonlyArray<SettingFault>
}> {
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.faults.map(lineOf).join("\n")
  }
}

const lineOf = ({ problem, variable }: SettingFault): string => `${variable} ${problem}`

type Values = ReadonlyMap<string, string>

const TRUE = new Set(["1", "true", "yes", "on"])
const flagOf = (values: Values, name: string, fallback: boolean): boolean => {
  const value = values.get(name)
  return value === undefined ? fallback : TRUE.has(value.toLowerCase())
}

/** Environments that may run without API keys. */
const OPEN_ENVIRONMENTS: ReadonlySet<string> = new Set(["development", "test"])
/** One connection is held by the run locks, so nothing could be read or written with a single one. */
const MIN_PRODUCTION_POOL = 2

/** The rules of http-details section 14 that look at several variables; what is meant for production starts safely or not at all. */
const deploymentFaults = (values: Values): ReadonlyArray<SettingFault> => {
  const environment = values.get("NODE_ENV") ?? "development"
  const faults: Array<SettingFault> = []
  const keys = (values.get("AUTH_API_KEYS") ?? "").split(",").filter((key) => key.trim() !== "")
  if (keys.length === 0 && !OPEN_ENVIRONMENTS.has(environment)) {
    faults.push({
      variable: "AUTH_API_KEYS",
      problem: `must hold at least one key when NODE_ENV is ${environment}`
    })
  }
  if (environment !== "production") return faults
  if (Number(values.get("DB_POOL_MAX") ?? MIN_PRODUCTION_POOL) < MIN_PRODUCTION_POOL) {
    faults.push({ variable: "DB_POOL_MAX", problem: `must be at least ${MIN_PRODUCTION_POOL} in production` })
  }
  if (!flagOf(values, "RUNTIME_TLS", false) && !flagOf(values, "RUNTIME_ALLOW_INSECURE", false)) {
    faults.push({
      variable: "RUNTIME_TLS",
      problem: "must be true in production, unless RUNTIME_ALLOW_INSECURE is true"
    })
  }
  if (flagOf(values, "RUNTIME_USE_DEV_HEADER", false) && !values.has("RUNTIME_BEARER_TOKEN")) {
    faults.push({
      variable: "RUNTIME_USE_DEV_HEADER",
      problem: "is not allowed in production without RUNTIME_BEARER_TOKEN"
    })
  }
  return faults
}

/** All that is wrong with the values, and the numbers whose default will be used instead. Empty values count as unset. */
export const judgeSettings = (values: Values) => {
  const faults = [...deploymentFaults(values)]
  for (const [variable, rule] of Object.entries(rules)) {
    const value = values.get(variable)
    const problem = value === undefined ? undefined : rule(value)
    if (problem !== undefined) faults.push({ variable, problem })
  }
  const replaced = forgivenNumbers.flatMap((variable): ReadonlyArray<SettingFault> => {
    const value = values.get(variable)
    return value === undefined || Number.isFinite(Number(value))
      ? []
      : [{ variable, problem: `is no number ("${value}"): the default is used` }]
  })
  return { faults, replaced }
}

const names = [...new Set([...Object.keys(rules), ...forgivenNumbers, ...deploymentVariables])]

const readAll = Effect.gen(function* () {
  const values = new Map<string, string>()
  for (const name of names) {
    const value = (yield* Config.withDefault(Config.String(name), "")).trim()
    if (value !== "") values.set(name, value)
  }
  return values
})

/**
 * Looks at all settings before anything is started: what cannot be used is reported at once, a line for each variable, and
 * stops the start.
 */
export const checkSettings = Effect.gen(function* () {
  const { faults, replaced } = judgeSettings(yield* readAll)
  for (const warning of replaced) yield* Effect.logWarning(lineOf(warning))
  if (faults.length === 0) return
  for (const fault of faults) yield* Effect.logError(lineOf(fault))
  return yield* new SettingsRefused({ faults })
})
