import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** A setting has a value the service must not start with. The message names the variable. */
export class SettingRefused extends Data.TaggedError("SettingRefused")<{
  readonly variable: string
  readonly message: string
}> {}

type Setting<A> = Effect.Effect<A, Config.ConfigError | SettingRefused>

/** An empty or blank value counts as unset. */
export const text = (variable: string): Setting<string | undefined> =>
  Effect.map(Config.option(Config.String(variable)), (value) => {
    const trimmed = Option.getOrElse(value, () => "").trim()
    return trimmed === "" ? undefined : trimmed
  })

/** A whole number of at least 1. */
export const positiveInt = (variable: string, fallback: number): Setting<number> =>
  Effect.flatMap(text(variable), (value) => {
    if (value === undefined) return Effect.succeed(fallback)
    const number = Number(value)
    return Number.isSafeInteger(number) && number > 0
      ? Effect.succeed(number)
      : refused(variable, `must be a positive integer, got "${value}"`)
  })

const TRUE = new Set(["1", "true", "yes", "on"])

/** `1`, `true`, `yes` and `on` in any case are true, other texts false. */
export const flag = (variable: string, fallback: boolean): Setting<boolean> =>
  Effect.map(text(variable), (value) => (value === undefined ? fallback : TRUE.has(value.toLowerCase())))

/** What NODE_ENV says; unset means development. */
export const environment: Setting<string> = Effect.map(text("NODE_ENV"), (value) => value ?? "development")

export const refused = (variable: string, problem: string): Effect.Effect<never, SettingRefused> =>
  Effect.fail(new SettingRefused({ variable, message: `${variable} ${problem}` }))
