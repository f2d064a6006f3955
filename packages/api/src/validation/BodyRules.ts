import type * as Schema from "effect/Schema"
import { type Checked, isRecord, type Place, type Rule, valid } from "./Rule.ts"

const name = (place: Place) => `${place.prefix}${place.key}`

export interface StringOptions {
  /** `first` and `last` say where `should not be empty` stands beside `must be a string`. */
  readonly notEmpty?: "first" | "last"
  /** Unicode code units. */
  readonly maxLength?: number
}

/** A string. A missing or null value breaks both the type and, when asked for, the emptiness rule. */
export const string = (options: StringOptions = {}): Rule<string> => ({
  optional: false,
  jsonSchema: {
    type: "string",
    ...(options.notEmpty === undefined ? {} : { minLength: 1 }),
    ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength })
  },
  check: (value, place, report) => {
    const texts: Array<string> = []
    if (typeof value !== "string") texts.push(`${name(place)} must be a string`)
    else if (options.maxLength !== undefined && value.length > options.maxLength) {
      texts.push(`${name(place)} must be shorter than or equal to ${options.maxLength} characters`)
    }
    if (options.notEmpty !== undefined && (value === "" || value === undefined || value === null)) {
      const text = `${name(place)} should not be empty`
      if (options.notEmpty === "first") texts.unshift(text)
      else texts.push(text)
    }
    texts.forEach(report)
    return texts.length === 0 && typeof value === "string" ? valid(value) : undefined
  }
})

/** One of a fixed set of words. */
export const oneOf = <const Words extends ReadonlyArray<string>>(words: Words): Rule<Words[number]> => ({
  optional: false,
  jsonSchema: { type: "string", enum: words },
  check: (value, place, report) => {
    const word = words.find((candidate) => candidate === value)
    if (word !== undefined) return valid(word)
    report(`${name(place)} must be one of the following values: ${words.join(", ")}`)
    return undefined
  }
})

/** An integer greater than zero that a double holds exactly. */
export const positiveInteger = (): Rule<number> => ({
  optional: false,
  jsonSchema: { type: "integer", minimum: 1 },
  check: (value, place, report) => {
    const isInteger = typeof value === "number" && Number.isSafeInteger(value)
    const isPositive = typeof value === "number" && value > 0
    if (!isInteger) report(`${name(place)} must be an integer number`)
    if (!isPositive) report(`${name(place)} must be a positive number`)
    return isInteger && isPositive ? valid(value) : undefined
  }
})

/** A JSON boolean; strings are not coerced. */
export const boolean = (): Rule<boolean> => ({
  optional: false,
  jsonSchema: { type: "boolean" },
  check: (value, place, report) => {
    if (typeof value === "boolean") return valid(value)
    report(`${name(place)} must be a boolean value`)
    return undefined
  }
})

/** A JSON object of any content. */
export const jsonObject = (): Rule<Schema.JsonObject> => ({
  optional: false,
  jsonSchema: { type: "object" },
  check: (value, place, report) => {
    if (isJsonObject(value)) return valid(value)
    report(`${name(place)} must be an object`)
    return undefined
  }
})

// Values come from JSON.parse, so an object's content is JSON by construction.
const isJsonObject = (value: unknown): value is Schema.JsonObject => isRecord(value)

export interface StringsOptions {
  /** Unicode code units of each string. */
  readonly maxLength?: number
}

/** An array of strings. */
export const strings = ({ maxLength }: StringsOptions = {}): Rule<ReadonlyArray<string>> => ({
  optional: false,
  jsonSchema: { type: "array", items: { type: "string", ...(maxLength === undefined ? {} : { maxLength }) } },
  check: (value, place, report) => {
    const items = Array.isArray(value) ? value : []
    const allStrings = Array.isArray(value) && items.every((item) => typeof item === "string")
    if (!allStrings) report(`${place.prefix}each value in ${place.key} must be a string`)
    if (!Array.isArray(value)) report(`${name(place)} must be an array`)
    const texts = items.filter((item) => typeof item === "string")
    const isShort = maxLength === undefined || texts.every((text) => text.length <= maxLength)
    if (!isShort) {
      report(`${place.prefix}each value in ${place.key} must be shorter than or equal to ${maxLength} characters`)
    }
    return allStrings && isShort ? valid(texts) : undefined
  }
})

export interface ArrayOptions {
  readonly min: number
  readonly max: number
  /** The whole message for too many items. */
  readonly tooMany: string
}

/** An array whose items obey a rule of their own; item paths are numbered (`participants.0.id`). */
export const arrayOf = <A>(item: Rule<A>, options: ArrayOptions): Rule<ReadonlyArray<A>> => ({
  optional: false,
  jsonSchema: { type: "array", items: item.jsonSchema, minItems: options.min, maxItems: options.max },
  check: (value, place, report) => {
    if (!Array.isArray(value)) {
      report(`${name(place)} must be an array`)
      return undefined
    }
    if (value.length < options.min) report(`${name(place)} must contain at least ${options.min} elements`)
    // The items of an oversized array are not looked at: the answer stays small.
    if (value.length > options.max) report(options.tooMany)
    if (value.length < options.min || value.length > options.max) return undefined
    return checkItems(item, value, `${name(place)}.`, report)
  }
})

const checkItems = <A>(
  item: Rule<A>,
  values: ReadonlyArray<unknown>,
  prefix: string,
  report: (message: string) => void
): Checked<ReadonlyArray<A>> | undefined => {
  const decoded: Array<A> = []
  values.forEach((value, index) => {
    const checked = item.check(value, { key: String(index), prefix }, report)
    if (checked !== undefined) decoded.push(checked.value)
  })
  return decoded.length === values.length ? valid(decoded) : undefined
}
