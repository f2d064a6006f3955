import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import { DEVELOPMENT, type Setting } from "./Setting.ts"

/** A setting, and the fault of its value; the two together make a sentence. */
export interface SettingProblem {
  readonly variable: string
  readonly problem: string
}

/** Settings have values that the program must not start with. The message has a line for each of them. */
export class SettingsRefused extends Data.TaggedError("SettingsRefused")<{
  readonly faults: ReadonlyArray<SettingProblem>
}> {
  // The reader of the settings reports them; a stack trace would add nothing.
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.faults.map(sentenceOf).join("\n")
  }
}

export const sentenceOf = ({ problem, variable }: SettingProblem): string => `${variable} ${problem}`

/** The one setting with a value that cannot be used. */
export const settingRefused = (variable: string, problem: string) =>
  new SettingsRefused({ faults: [{ variable, problem }] })

/**
 * The trimmed text of a setting; undefined when it is not set. An empty text counts as unset, unless the row says
 * otherwise. An alias counts when the name itself is not set, not even to an empty text.
 */
export const readText = Effect.fnUntraced(function* ({ aliases, emptyCounts, name }: Setting<unknown>) {
  for (const candidate of [name, ...aliases]) {
    const found = yield* Effect.mapError(Config.option(Config.String(candidate)), ({ message }) =>
      settingRefused(candidate, `cannot be read: ${message}`)
    )
    if (Option.isNone(found)) continue
    const text = found.value.trim()
    return text === "" && !emptyCounts ? undefined : text
  }
  return undefined
})

const environment = Effect.map(
  Config.withDefault(Config.String("NODE_ENV"), ""),
  (name) => name.trim() || DEVELOPMENT
).pipe(Effect.orDie)

/** The value of one setting, or its default; fails when the value must stop the start. */
export const readSetting = <A>(setting: Setting<A>): Effect.Effect<A, SettingsRefused> =>
  Effect.gen(function* () {
    const text = yield* readText(setting)
    const reading = text === undefined ? undefined : setting.type.read(text)
    if (reading?._tag === "Fault") return yield* settingRefused(setting.name, reading.problem)
    if (reading?.value !== undefined) return reading.value
    return setting.fallback(yield* environment)
  })

/** The values of several settings by the given names. */
export type SettingValues<Settings extends Readonly<Record<string, Setting<unknown>>>> = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer A> ? A : never
}

/** The values of several settings by the given names; fails with everything that must stop the start. */
export const readSettings = <Settings extends Readonly<Record<string, Setting<unknown>>>>(
  settings: Settings
): Effect.Effect<SettingValues<Settings>, SettingsRefused> =>
  Effect.gen(function* () {
    const values: Record<string, unknown> = {}
    const faults: Array<SettingProblem> = []
    for (const [name, setting] of Object.entries(settings)) {
      const read = yield* Effect.result(readSetting(setting))
      if (read._tag === "Success") values[name] = read.success
      else faults.push(...read.failure.faults)
    }
    if (faults.length > 0) return yield* new SettingsRefused({ faults })
    return values as SettingValues<Settings>
  })

/** The defaults of several settings by the given names, in an environment (NODE_ENV). */
export const defaultsOf = <Settings extends Readonly<Record<string, Setting<unknown>>>>(
  settings: Settings,
  environment: string = DEVELOPMENT
): SettingValues<Settings> =>
  // `fromEntries` does not carry the type of each name.
  Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, setting.fallback(environment)])
  ) as SettingValues<Settings>
