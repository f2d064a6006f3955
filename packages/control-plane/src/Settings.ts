import * as Config from "effect/Config"

/** Readers of settings for which an unset, empty or unusable value means the default (http-details section 14). */

const text = (name: string) => Config.map(Config.withDefault(Config.String(name), ""), (value) => value.trim())

/** A whole number of at least `minimum`. */
export const integer = (name: string, fallback: number, minimum: number): Config.Config<number> =>
  Config.map(text(name), (value) => {
    const number = Number(value)
    return value !== "" && Number.isSafeInteger(number) && number >= minimum ? number : fallback
  })

const TRUE = new Set(["1", "true", "yes", "on"])

export const flag = (name: string, fallback: boolean): Config.Config<boolean> =>
  Config.map(text(name), (value) => (value === "" ? fallback : TRUE.has(value.toLowerCase())))

export const word = (name: string, fallback: string): Config.Config<string> =>
  Config.map(text(name), (value) => (value === "" ? fallback : value))
