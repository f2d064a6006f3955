import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** A setting has a value the stack must not start with; the message names the variable. */
export class StackSettingRefused extends Data.TaggedError("StackSettingRefused")<{
  readonly variable: string
  readonly reason: string
}> {
  override get message() {
    return `${this.variable} ${this.reason}`
  }
}

export interface StackSettings {
  readonly host: string
  readonly launcherPort: number
  readonly controlPlanePort: number
  readonly runtimePort: number
  /** Undefined: the default, or a free one. */
  readonly authPort: number | undefined
  /** Undefined: the default, or a free one. */
  readonly postgresPort: number | undefined
  /** Absolute. */
  readonly dataDir: string
  /** Absolute. */
  readonly packsDir: string
  /** Where agents are started: the root of the checkout. */
  readonly root: string
  /** Undefined: the embedded server. */
  readonly databaseUrl: string | undefined
  /** `host:port`; undefined: the sandbox. */
  readonly runtimeAddress: string | undefined
  /** Whether our auth service mints the credentials for the runtime: by default those for the sandbox only. */
  readonly devAuth: boolean
  /** The key that our own calls use, when the services ask for one. */
  readonly apiKey: Redacted.Redacted | undefined
  readonly logLevel: LogLevel.LogLevel
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

const LOG_LEVELS: Readonly<Record<string, LogLevel.LogLevel>> = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
}

const HIGHEST_PORT = 65_535

/** Reads the environment; relative folders start at the root of the checkout. An empty value counts as unset. */
export const readStackSettings: Effect.Effect<StackSettings, StackSettingRefused> = Effect.gen(function* () {
  const packsDir = resolve(ROOT, (yield* text("PACKS_DIR")) ?? "packs")
  if (!existsSync(packsDir) || !statSync(packsDir).isDirectory()) {
    return yield* new StackSettingRefused({ variable: "PACKS_DIR", reason: `names no folder: ${packsDir}` })
  }
  const keys = (yield* text("AUTH_API_KEYS"))?.split(",").map((key) => key.trim())
  const key = keys?.find((entry) => entry !== "")
  const runtimeAddress = yield* text("RUNTIME_ADDRESS")
  return {
    host: (yield* text("HOST")) ?? "127.0.0.1",
    launcherPort: (yield* port("LAUNCHER_PORT")) ?? 3000,
    controlPlanePort: (yield* port("CONTROL_PLANE_PORT")) ?? 3001,
    runtimePort: (yield* port("SANDBOX_PORT")) ?? 50_051,
    authPort: yield* port("AUTH_PORT"),
    postgresPort: yield* port("RUNPLANE_POSTGRES_PORT"),
    dataDir: resolve(ROOT, (yield* text("RUNPLANE_DATA_DIR")) ?? ".data"),
    packsDir,
    root: ROOT,
    databaseUrl: yield* text("DATABASE_URL"),
    runtimeAddress,
    devAuth: (yield* flag("DEV_AUTH")) ?? runtimeAddress === undefined,
    apiKey: key === undefined ? undefined : Redacted.make(key),
    logLevel: yield* logLevel
  }
})

const text = (variable: string) =>
  Effect.map(Effect.orDie(Config.option(Config.String(variable))), (value) => {
    const trimmed = Option.getOrElse(value, () => "").trim()
    return trimmed === "" ? undefined : trimmed
  })

const port = Effect.fnUntraced(function* (variable: string) {
  const value = yield* text(variable)
  if (value === undefined) return undefined
  if (/^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= HIGHEST_PORT) return Number(value)
  const reason = `must be a port from 1 to ${HIGHEST_PORT}, got "${value}"`
  return yield* new StackSettingRefused({ variable, reason })
})

const flag = Effect.fnUntraced(function* (variable: string) {
  const value = yield* text(variable)
  if (value === undefined) return undefined
  if (/^(1|true|yes|on)$/i.test(value)) return true
  if (/^(0|false|no|off)$/i.test(value)) return false
  return yield* new StackSettingRefused({ variable, reason: `must be true or false, got "${value}"` })
})

const logLevel = Effect.gen(function* () {
  const value = (yield* text("LOG_LEVEL")) ?? "warn"
  const level = LOG_LEVELS[value.toLowerCase()]
  if (level !== undefined) return level
  const reason = `must be one of ${Object.keys(LOG_LEVELS).join(", ")}, got "${value}"`
  return yield* new StackSettingRefused({ variable: "LOG_LEVEL", reason })
})
