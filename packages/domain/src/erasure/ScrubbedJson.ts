import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { isJsonObject } from "../values/JsonReader.ts"
import { isFoundIn } from "./FoundMembers.ts"
import type { TextFinder } from "./TextFinder.ts"

/** A document without what was searched. */
export interface Scrubbed {
  /** Its text; the given one where nothing was removed. */
  readonly text: string
  /** Removed values and members. */
  readonly removed: number
  /** Values that have the text and stay, because of the names of their members. */
  readonly kept: number
}

/**
 * Removes a text from a JSON document that no seal covers, such as a notification or the metadata of a run: a text that
 * has it becomes empty, a number becomes null, and a member whose name has it is left out. Members named in `keep` stay
 * as they are with all that is in them: identifiers and states, by which the document is found and read.
 */
export const scrubbedJson = (finder: TextFinder, text: string, keep: ReadonlySet<string>): Scrubbed => {
  const parsed = Result.try((): Schema.Json => JSON.parse(text))
  if (Result.isFailure(parsed)) return finder(text) ? { text: '""', removed: 1, kept: 0 } : unchanged(text)
  let [removed, kept] = [0, 0]
  const scrub = (value: Schema.Json): Schema.Json => {
    if (typeof value === "string" || typeof value === "number") {
      if (!isFoundIn(finder, value)) return value
      removed += 1
      return typeof value === "string" ? "" : null
    }
    if (Array.isArray(value)) return value.map(scrub)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]): ReadonlyArray<readonly [string, Schema.Json]> => {
        if (finder(name)) {
          removed += 1
          return []
        }
        if (!keep.has(name)) return [[name, scrub(each)]]
        if (isFoundIn(finder, each)) kept += 1
        return [[name, each]]
      })
    )
  }
  const scrubbed = scrub(parsed.success)
  return removed === 0 ? { ...unchanged(text), kept } : { text: JSON.stringify(scrubbed), removed, kept }
}

const unchanged = (text: string): Scrubbed => ({ text, removed: 0, kept: 0 })
