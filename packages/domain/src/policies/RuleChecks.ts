import type * as Schema from "effect/Schema"
import { isJsonObject } from "../JsonReader.ts"

/**
 * Checks of policy rules. Each reports its faults as `<path>: <reason>`; a path is made of the keys down to the value, as in
 * `/voting/quorum`, and `(root)` is the rules object itself.
 */
export type Check = (value: Schema.Json, path: string, report: (fault: string) => void) => void

/** Keys that say something to people only; they are legal in every object and never looked at. */
export const isAnnotation = (key: string): boolean => key.startsWith("_") || key.startsWith("$")

export const shown = (path: string): string => (path === "" ? "(root)" : path)

export const unrecognized = (path: string, key: string): string => `${shown(path)}: unrecognized key "${key}"`

const must =
  (holds: (value: Schema.Json) => boolean, what: string): Check =>
  (value, path, report) => {
    if (!holds(value)) report(`${shown(path)}: ${what}`)
  }

export const flag = must((value) => typeof value === "boolean", "must be a boolean")

export const numberFrom = (minimum: number): Check =>
  must((value) => typeof value === "number" && value >= minimum, `must be a number of at least ${minimum}`)

export const numberBetween = (minimum: number, maximum: number): Check =>
  must(
    (value) => typeof value === "number" && value >= minimum && value <= maximum,
    `must be a number from ${minimum} to ${maximum}`
  )

export const integerFrom = (minimum: number): Check =>
  must(
    (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= minimum,
    `must be an integer of at least ${minimum}`
  )

export const oneOf = (...words: ReadonlyArray<string>): Check =>
  must((value) => words.some((word) => word === value), `must be one of ${words.join(", ")}`)

export const texts = must(
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  "must be an array of strings"
)

/** Participant ids with numbers above zero. Every key is an id, so there are no annotations here. */
export const positiveMap: Check = (value, path, report) => {
  if (!isJsonObject(value)) return report(`${shown(path)}: must be an object`)
  for (const [id, weight] of Object.entries(value)) {
    if (!(typeof weight === "number" && weight > 0)) report(`${path}/${id}: must be a number above 0`)
  }
}

/** An object of exactly these keys, all optional, and perhaps a rule between them. */
export const closed =
  (
    members: Readonly<Record<string, Check>>,
    between: (object: Schema.JsonObject) => string | undefined = () => undefined
  ): Check =>
  (value, path, report) => {
    if (!isJsonObject(value)) return report(`${shown(path)}: must be an object`)
    for (const [key, member] of Object.entries(value)) {
      if (isAnnotation(key)) continue
      const check = Object.hasOwn(members, key) ? members[key] : undefined
      if (check === undefined) report(unrecognized(path, key))
      else check(member, `${path}/${key}`, report)
    }
    const fault = between(value)
    if (fault !== undefined) report(`${shown(path)}: ${fault}`)
  }
