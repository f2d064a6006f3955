import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { readPricing } from "../events/FrameNormaliser.ts"
import { flags, forgivenNumbers, freeTexts, type NumberRange, rules } from "./SettingRules.ts"
import { integerFault } from "./StrictInteger.ts"

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
  const names = values.get("AUTH_API_KEY_NAMES")?.split(",") ?? []
  if (keys.length > 0 && names.length > keys.length) {
    faults.push({ variable: "AUTH_API_KEY_NAMES", problem: "names more keys than AUTH_API_KEYS holds" })
  }
  if (environment !== "production") return faults
  const pool = Number(values.get("DB_POOL_MAX") ?? MIN_PRODUCTION_POOL)
  // What is below 1 is refused everywhere.
  if (pool < MIN_PRODUCTION_POOL && pool >= 1) {
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

const numberFault = (value: string, { maximum, minimum }: NumberRange): string | undefined => {
  const number = Number(value)
  if (maximum === undefined) return integerFault(value, minimum)
  return Number.isInteger(number) && number >= minimum && number <= maximum
    ? undefined
    : `must be a whole number from ${minimum} to ${maximum}, got "${value}"`
}

const FLAG_WORDS = new Set([...TRUE, "0", "false", "no", "off"])

/** What is not as somebody may think it is, but no reason not to start. */
const warningsOf = (values: Values): ReadonlyArray<SettingFault> => [
  ...Object.keys(forgivenNumbers).flatMap((variable) => {
    const value = values.get(variable)
    const parses = value === undefined || Number.isFinite(Number(value))
    return parses ? [] : [{ variable, problem: `is no number ("${value}"): the default is used` }]
  }),
  ...flags.flatMap((variable) => {
    const value = values.get(variable)
    const known = value === undefined || FLAG_WORDS.has(value.toLowerCase())
    return known ? [] : [{ variable, problem: `is neither true nor false ("${value}"): it counts as false` }]
  }),
  ...(values.get("STREAM_HUB_STRATEGY") === "redis" || values.has("REDIS_URL")
    ? [
        {
          variable: "STREAM_HUB_STRATEGY",
          problem: "changes nothing: the instances tell each other through PostgreSQL"
        }
      ]
    : []),
  ...(flagOf(values, "STREAM_RESUME_ENABLED", true)
    ? []
    : [{ variable: "STREAM_RESUME_ENABLED", problem: "changes nothing: a broken stream is always resumed" }])
]

/** All that is wrong with the values, and what is worth a warning. Empty values count as unset. */
export const judgeSettings = (values: Values) => {
  const faults = [...deploymentFaults(values)]
  for (const [variable, rule] of Object.entries(rules)) {
    const value = values.get(variable)
    const problem = value === undefined ? undefined : rule(value)
    if (problem !== undefined) faults.push({ variable, problem })
  }
  for (const [variable, range] of Object.entries(forgivenNumbers)) {
    const value = values.get(variable)
    if (value === undefined || !Number.isFinite(Number(value))) continue
    const problem = numberFault(value, range)
    if (problem !== undefined) faults.push({ variable, problem })
  }
  return { faults, warnings: warningsOf(values) }
}

/** Every variable that the service reads. */
export const settingNames: ReadonlyArray<string> = [
  ...new Set([...Object.keys(rules), ...Object.keys(forgivenNumbers), ...flags, ...freeTexts])
]

const readAll = Effect.gen(function* () {
  const values = new Map<string, string>()
  for (const name of settingNames) {
    const value = (yield* Config.withDefault(Config.String(name), "")).trim()
    if (value !== "") values.set(name, value)
  }
  return values
})

/** The one setting whose value has to be opened to be judged. */
const pricingFaults = Effect.fnUntraced(function* (values: Values) {
  const path = values.get(PRICING_FILE)
  if (path === undefined) return []
  const read = yield* Effect.result(readPricing(path))
  return read._tag === "Success" ? [] : [{ variable: PRICING_FILE, problem: `cannot be used: ${read.failure.message}` }]
})
const PRICING_FILE = "PROTO_TOKEN_PRICING_FILE"

/**
 * Looks at all settings before anything is started: what cannot be used is reported at once, a line for each variable, and
 * stops the start.
 */
export const checkSettings = Effect.gen(function* () {
  const values = yield* readAll
  const { faults: found, warnings } = judgeSettings(values)
  const faults = [...found, ...(yield* pricingFaults(values))]
  for (const warning of warnings) yield* Effect.logWarning(lineOf(warning))
  if (faults.length === 0) return
  for (const fault of faults) yield* Effect.logError(lineOf(fault))
  return yield* new SettingsRefused({ faults })
})
