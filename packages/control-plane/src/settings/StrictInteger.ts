import * as Config from "effect/Config"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** Why a text is no whole number of at least `minimum`; undefined when it is one. An empty text is no value at all. */
export const integerFault = (text: string, minimum: number): string | undefined => {
  const value = Number(text)
  return text.trim() === "" || (Number.isSafeInteger(value) && value >= minimum)
    ? undefined
    : `must be a whole number of at least ${minimum}, got "${text}"`
}

/**
 * A whole number of at least `minimum`; unset or empty means the default. For settings about which nobody may guess: anything
 * else stops the start, with a message that names the variable.
 */
export const strictInteger = (name: string, fallback: number, minimum: number): Config.Config<number> =>
  Config.flatMap(Config.withDefault(Config.String(name), ""), (text) => {
    const fault = integerFault(text, minimum)
    if (fault === undefined) return Config.succeed(text.trim() === "" ? fallback : Number(text))
    return Config.fail(new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: `${name} ${fault}` })))
  })
