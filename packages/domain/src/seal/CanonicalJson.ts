import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject } from "../JsonReader.ts"

/** One text for one value: keys sorted by code unit, no white space. What is signed is signed in this form. */
export const canonicalJson = (value: Schema.Json): string => {
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`)
  return `{${members.join(",")}}`
}
