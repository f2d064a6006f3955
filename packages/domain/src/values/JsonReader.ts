import type * as Schema from "effect/Schema"
import type { JsonObject } from "./PayloadDecoder.ts"

/**
 * Reads of optional members of a JSON object whose writer is not trusted. Every reader takes the spellings of one key
 * (camelCase, snake_case) and answers the first member of the right type, or undefined.
 */

/** The first string that is not empty: in protobuf an empty string is the same as an absent one. */
export const textAt = (object: JsonObject, ...keys: ReadonlyArray<string>): string | undefined => {
  for (const key of keys) {
    const value = object[key]
    if (typeof value === "string" && value !== "") return value
  }
  return undefined
}

/** The first finite number. */
export const numberAt = (object: JsonObject, ...keys: ReadonlyArray<string>): number | undefined => {
  for (const key of keys) {
    const value = object[key]
    if (typeof value === "number" && Number.isFinite(value)) return value
  }
  return undefined
}

export const booleanAt = (object: JsonObject, ...keys: ReadonlyArray<string>): boolean | undefined => {
  for (const key of keys) {
    const value = object[key]
    if (typeof value === "boolean") return value
  }
  return undefined
}

export const isJsonObject = (value: Schema.Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isJsonArray(value)

export const isJsonArray = (value: Schema.Json | undefined): value is Schema.JsonArray => Array.isArray(value)

export const objectAt = (object: JsonObject, ...keys: ReadonlyArray<string>): JsonObject | undefined => {
  for (const key of keys) {
    const value = object[key]
    if (isJsonObject(value)) return value
  }
  return undefined
}

export const arrayAt = (object: JsonObject, ...keys: ReadonlyArray<string>): Schema.JsonArray | undefined => {
  for (const key of keys) {
    const value = object[key]
    if (isJsonArray(value)) return value
  }
  return undefined
}

/** The non-empty strings of the first array; empty when there is none. */
export const textsAt = (object: JsonObject, ...keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  (arrayAt(object, ...keys) ?? []).filter((item) => typeof item === "string").filter((item) => item !== "")
