import { isUuid } from "@runplane/domain"
import { type Place, type Rule, valid } from "./Rule.ts"

const name = (place: Place) => `${place.prefix}${place.key}`

/** A number of at least `min`, of which every broken bound is reported. */
const atLeast = (
  read: (value: unknown) => number,
  isRight: (number: number) => boolean,
  kind: { readonly jsonType: "integer" | "number"; readonly text: string },
  min: number
): Rule<number> => ({
  optional: false,
  jsonSchema: { type: kind.jsonType, minimum: min },
  check: (value, place, report) => {
    const number = read(value)
    const isLarge = number >= min
    if (!isLarge) report(`${name(place)} must not be less than ${min}`)
    if (!isRight(number)) report(`${name(place)} ${kind.text}`)
    return isLarge && isRight(number) ? valid(number) : undefined
  }
})

const integer = { jsonType: "integer", text: "must be an integer number" } as const
const number = { jsonType: "number", text: "must be a number conforming to the specified constraints" } as const

const fromJson = (value: unknown) => (typeof value === "number" ? value : Number.NaN)
const fromText = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN)

/** A JSON integer; strings are not coerced. */
export const integerAtLeast = (min: number): Rule<number> => atLeast(fromJson, Number.isSafeInteger, integer, min)

/** A finite JSON number; strings are not coerced. */
export const numberAtLeast = (min: number): Rule<number> => atLeast(fromJson, Number.isFinite, number, min)

/** A finite number in a query string. */
export const queryNumberAtLeast = (min: number): Rule<number> => atLeast(fromText, Number.isFinite, number, min)

/** A UUID in a query string; decodes to lower case. */
export const queryUuid = (): Rule<string> => ({
  optional: false,
  jsonSchema: { type: "string", format: "uuid" },
  check: (value, place, report) => {
    if (typeof value === "string" && isUuid(value)) return valid(value.toLowerCase())
    report(`${name(place)} must be a UUID`)
    return undefined
  }
})
