import { isJsonObject, numberAt, objectAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** Scopes that a text names. */
const MOST_SCOPES = 3

/**
 * What a run lacks because no family reads its spans, from `metadata.unreadSpans` of its record: "12 spans of
 * acme.tracer were not understood". Undefined when all were.
 */
export const unreadSpansText = (metadata: JsonObject): string | undefined => {
  const unread = objectAt(metadata, "unreadSpans")
  const count = unread === undefined ? undefined : numberAt(unread, "count")
  if (unread === undefined || count === undefined || count === 0) return undefined
  const { scopes } = unread
  const names = isJsonObject(scopes) ? Object.keys(scopes).map((name) => (name === "" ? "an unnamed scope" : name)) : []
  const shown = names.slice(0, MOST_SCOPES).join(", ")
  const more = names.length > MOST_SCOPES ? ` and ${names.length - MOST_SCOPES} more` : ""
  const noun = count === 1 ? "span" : "spans"
  return `${count} ${noun}${shown === "" ? "" : ` of ${shown}${more}`} ${count === 1 ? "was" : "were"} not understood`
}
