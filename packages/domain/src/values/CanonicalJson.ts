import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject } from "./JsonReader.ts"

/**
 * One text for one value, by RFC 8785 (JCS): keys sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * writes them. What is signed is signed in this form. A lone surrogate, which the RFC excludes, stays as its escape.
 */
export const canonicalJson = (value: Schema.Json): string => {
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`)
  return `{${members.join(",")}}`
}
