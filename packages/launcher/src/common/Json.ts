import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

export type Json = Schema.Json
export type JsonObject = Schema.JsonObject

/** A JSON object, as opposed to an array, a scalar or null. */
export const isJsonObject = (value: Json | undefined): value is JsonObject => Predicate.isReadonlyObject(value)

/**
 * How a template changes its scenario: two objects merge key by key, anything else replaces the base. Keys are
 * copied with `Object.fromEntries`, so that a key called `__proto__` stays an ordinary key.
 */
export const deepMerge = (base: Json | undefined, override: Json | undefined): Json | undefined => {
  if (override === undefined) return base
  if (!isJsonObject(base) || !isJsonObject(override)) return override
  const merged = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(override)) {
    const own = deepMerge(merged.get(key), value)
    if (own !== undefined) merged.set(key, own)
  }
  return Object.fromEntries(merged)
}

/** The object without its null values: in pack files null says the same as leaving the key out. */
export const withoutNulls = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))

/** One value of an array per distinct text, first occurrence first. */
export const distinct = (values: Iterable<string>): ReadonlyArray<string> => [...new Set(values)]
