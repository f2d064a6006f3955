import type * as Schema from "effect/Schema"
import { parseJsonText } from "../frames/PayloadTypes.ts"
import { MAX_TOKENS_PER_CALL } from "../usage/TokenCounts.ts"
import { isJsonArray, isJsonObject } from "../values/JsonReader.ts"
import { ATTRIBUTES, type AttributeName } from "./Names.ts"
import type { Attributes } from "./Span.ts"

/** Characters of a name, a target or an id that are read; longer ones are cut. */
export const MAX_NAME_CHARACTERS = 256

const ABSENT = "redacted|hidden|masked|filtered|removed|(?:not |un)specified|not set|unknown|none"
/** Texts that emitters write where content is hidden or absent. They are never a name, a target, an id or a message. */
const HIDDEN = new RegExp(`^(?:_*redacted_*|[[<({]+(?:${ABSENT})[\\])}>]+|\\*{3,})$`, "i")

export const isHidden = (text: string): boolean => text.length <= 32 && HIDDEN.test(text.trim())

/** A text that says something: not empty, not hidden. */
export const spoken = (value: Schema.Json | undefined): string | undefined =>
  typeof value === "string" && value.trim() !== "" && !isHidden(value) ? value : undefined

/** A name: one line, bounded, trimmed. */
export const nameOf = (value: Schema.Json | undefined): string | undefined => {
  const text = spoken(value)?.trim()
  if (text === undefined) return undefined
  const end = text.search(/[\r\n]/)
  return (end < 0 ? text : text.slice(0, end)).slice(0, MAX_NAME_CHARACTERS)
}

/** Methods that run a crew, a module or a tool: instrumentations name the span after both. */
const METHOD = /\.(?:a?kickoff|a?run|a?forward|__call__|acall)$/

/** The name of a span without the method that it is of. */
export const withoutMethod = (name: string): string => name.replace(METHOD, "")

/** The first of the attribute's names with a text. */
export const textAt = (attributes: Attributes, name: AttributeName): string | undefined => {
  for (const each of ATTRIBUTES[name].names) {
    const text = spoken(attributes[each])
    if (text !== undefined) return text
  }
  return undefined
}

/** `textAt` as a name. */
export const nameAt = (attributes: Attributes, name: AttributeName): string | undefined =>
  nameOf(textAt(attributes, name))

const NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** A number, or a text with one: integers beyond 2^53 come as text. Not negative. */
export const numberOf = (value: Schema.Json | undefined): number | undefined => {
  const number = typeof value === "string" && NUMBER.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** The first of the attribute's names with a number. */
export const numberAt = (attributes: Attributes, name: AttributeName): number | undefined => {
  for (const each of ATTRIBUTES[name].names) {
    const number = numberOf(attributes[each])
    if (number !== undefined) return number
  }
  return undefined
}

/** The first count above 0: emitters that state a count under two names leave one of them 0. */
export const tokensAt = (attributes: Attributes, name: AttributeName): number | undefined => {
  let found: number | undefined
  for (const each of ATTRIBUTES[name].names) {
    const tokens = numberOf(attributes[each])
    if (tokens === undefined) continue
    found = Math.min(Math.trunc(tokens), MAX_TOKENS_PER_CALL)
    if (found > 0) return found
  }
  return found
}

/** The value of a text with JSON of an object or a list, or the value itself. Undefined when hidden or empty. */
export const jsonOf = (value: Schema.Json | undefined): Schema.Json | undefined => {
  if (typeof value !== "string") return value === null ? undefined : value
  const text = spoken(value)
  if (text === undefined) return undefined
  const first = text.trimStart()[0]
  return first === "{" || first === "[" || first === '"' ? (parseJsonText(text) ?? text) : text
}

/** The first of the attribute's names with a value that is neither hidden nor empty. */
export const jsonAt = (attributes: Attributes, name: AttributeName): Schema.Json | undefined => {
  for (const each of ATTRIBUTES[name].names) {
    const json = jsonOf(attributes[each])
    if (json !== undefined) return json
  }
  return undefined
}

/** A list of texts: a list, JSON text of a list, or texts between commas. */
export const textsAt = (attributes: Attributes, name: AttributeName): ReadonlyArray<string> => {
  const json = jsonAt(attributes, name)
  const list = typeof json === "string" ? json.split(",") : isJsonArray(json) ? json : []
  return list.map((item) => nameOf(item)).filter((text) => text !== undefined)
}

/** The member of an object, or of JSON text of one. */
export const memberOf = (value: Schema.Json | undefined, name: string): Schema.Json | undefined => {
  const json = jsonOf(value)
  return isJsonObject(json) ? json[name] : undefined
}
