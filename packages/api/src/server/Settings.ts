import * as Config from "effect/Config"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** Readers of environment settings that all edge pieces share. An empty value counts as unset (http-details section 14). */

const optionalText = (name: string): Config.Config<Option.Option<string>> =>
  Config.option(Config.String(name)).pipe(Config.map(Option.filter((text) => text.trim() !== "")))

export const text = (name: string, fallback: string): Config.Config<string> =>
  Config.map(optionalText(name), (value) => Option.getOrElse(value, () => fallback).trim())

/** Entries between commas, trimmed, empty ones dropped. */
export const list = (name: string): Config.Config<ReadonlyArray<string>> =>
  Config.map(optionalText(name), (value) =>
    Option.getOrElse(value, () => "")
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
  )

/** An integer of at least `minimum`; anything else stops the start with the name of the setting. */
export const integer = (name: string, fallback: number, minimum: number): Config.Config<number> =>
  Config.flatMap(optionalText(name), (value) => {
    if (Option.isNone(value)) return Config.succeed(fallback)
    const number = Number(value.value)
    return Number.isSafeInteger(number) && number >= minimum
      ? Config.succeed(number)
      : refused(name, `must be an integer of at least ${minimum}`)
  })

export const oneOf = <const Words extends ReadonlyArray<string>>(
  name: string,
  words: Words,
  fallback: Words[number]
): Config.Config<Words[number]> =>
  Config.flatMap(optionalText(name), (value) => {
    if (Option.isNone(value)) return Config.succeed(fallback)
    const word = words.find((candidate) => candidate === value.value.trim())
    return word === undefined ? refused(name, `must be one of ${words.join(", ")}`) : Config.succeed(word)
  })

/** A setting that stops the start, with a message that names it. */
export const refused = (name: string, why: string): Config.Config<never> =>
  Config.fail(new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: `${name} ${why}` })))
