import { parseIsoDate } from "./IsoDate.ts"
import { type Place, type Rule, valid } from "./Rule.ts"

/**
 * Rules for query strings, where every value is text (or several texts, when a key is repeated). An empty value counts
 * as absent: `querySchema` drops it before the rules see it.
 */
const name = (place: Place) => `${place.prefix}${place.key}`

export interface QueryIntegerOptions {
  readonly min?: number
  readonly max?: number
}

/** An integer; every broken bound is reported, and a text that is no number breaks all of them. */
export const queryInteger = (options: QueryIntegerOptions = {}): Rule<number> => ({
  optional: false,
  jsonSchema: {
    type: "integer",
    ...(options.min === undefined ? {} : { minimum: options.min }),
    ...(options.max === undefined ? {} : { maximum: options.max })
  },
  check: (value, place, report) => {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN
    const texts: Array<string> = []
    if (options.max !== undefined && !(number <= options.max)) {
      texts.push(`${name(place)} must not be greater than ${options.max}`)
    }
    if (options.min !== undefined && !(number >= options.min)) {
      texts.push(`${name(place)} must not be less than ${options.min}`)
    }
    if (!Number.isSafeInteger(number)) texts.push(`${name(place)} must be an integer number`)
    texts.forEach(report)
    return texts.length === 0 ? valid(number) : undefined
  }
})

/** A switch: the text `true` is true, every other given value is false. */
export const queryFlag = (): Rule<boolean> => ({
  optional: false,
  jsonSchema: { type: "boolean" },
  check: (value) => valid(value === "true")
})

export const queryString = (): Rule<string> => ({
  optional: false,
  jsonSchema: { type: "string" },
  check: (value, place, report) => {
    if (typeof value === "string") return valid(value)
    report(`${name(place)} must be a string`)
    return undefined
  }
})

/** Texts separated by commas, trimmed, empty ones left out; a repeated key adds to the list. */
export const queryList = (): Rule<ReadonlyArray<string>> => ({
  optional: false,
  jsonSchema: { type: "string" },
  check: (value) => {
    const texts = Array.isArray(value) ? value.map(String) : [String(value)]
    return valid(texts.flatMap((text) => text.split(",")).flatMap((text) => (text.trim() === "" ? [] : [text.trim()])))
  }
})

/** An ISO 8601 date or date-time; decodes to the ISO text of that instant in UTC with milliseconds. */
export const queryDate = (): Rule<string> => ({
  optional: false,
  jsonSchema: { type: "string", anyOf: [{ format: "date-time" }, { format: "date" }] },
  check: (value, place, report) => {
    const instant = typeof value === "string" ? parseIsoDate(value) : undefined
    if (instant !== undefined) return valid(instant)
    report(`${name(place)} must be a valid ISO 8601 date string`)
    return undefined
  }
})
