import type * as Schema from "effect/Schema"
import type { JsonObject } from "./PayloadDecoder.ts"

/** Nesting levels that a payload may have; beyond it JSON.stringify itself could overflow the stack. */
export const MAX_JSON_DEPTH = 64

const REPLACEMENT = "\uFFFD"

/**
 * Makes text storable: lone surrogates and U+0000 become U+FFFD, because neither survives UTF-8 and a PostgreSQL
 * `text`. Returns the same string when there is nothing to replace.
 */
export const cleanText = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll("\u0000", REPLACEMENT)

/** A text in a value that PostgreSQL or UTF-8 cannot hold: the keys of its path, and its fault. */
export interface Unstorable {
  readonly path: ReadonlyArray<string>
  readonly what: "the character U+0000" | "half of a surrogate pair"
}

/** The first text, key or value, that could not be kept as it is; undefined when every one can. */
export const unstorableIn = (value: unknown): Unstorable | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : { path: [], what: faultOf(value) }
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    // The key itself cannot be named: the message would hold the same text.
    const found = isStorable(key) ? unstorableIn(member) : { path: [], what: faultOf(key) }
    if (found !== undefined) return isStorable(key) ? { ...found, path: [key, ...found.path] } : found
  }
  return undefined
}

const isStorable = (text: string) => text.isWellFormed() && !text.includes("\u0000")

const faultOf = (text: string): Unstorable["what"] =>
  text.isWellFormed() ? "the character U+0000" : "half of a surrogate pair"

/** A number that JSON can carry unchanged: NaN and the infinities become the fallback, -0 becomes 0. */
export const cleanNumber = (value: number, fallback = 0): number =>
  Number.isFinite(value) ? (value === 0 ? 0 : value) : fallback

/**
 * Rebuilds a value of unknown origin as JSON that round-trips through text: clean strings and keys, finite numbers
 * (others become null; a `bigint` that a double cannot hold becomes text), no undefined members, at most
 * `MAX_JSON_DEPTH` levels (deeper ones become null), and no `__proto__` key, which an assignment somewhere later would
 * take for the prototype.
 */
export const cleanJson = (value: unknown, depth = 0): Schema.Json => {
  switch (typeof value) {
    case "string":
      return cleanText(value)
    case "number":
      return Number.isFinite(value) ? cleanNumber(value) : null
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    case "boolean":
      return value
    case "object":
      if (value === null || depth >= MAX_JSON_DEPTH) return null
      return Array.isArray(value) ? value.map((item) => cleanJson(item, depth + 1)) : cleanObject(value, depth)
    default:
      return null
  }
}

/** `cleanJson` of an object. */
export const cleanObject = (object: object, depth = 0): JsonObject => {
  const clean: Record<string, Schema.Json> = {}
  for (const [key, member] of Object.entries(object)) {
    if (member !== undefined && key !== "__proto__") clean[cleanText(key)] = cleanJson(member, depth + 1)
  }
  return clean
}

/** Whether a parsed JSON value nests deeper than `levels`. */
export const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const member of Object.values(value)) if (isDeeperThan(member, levels - 1)) return true
  return false
}
