import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject } from "./JsonReader.ts"

/**
 * Bounds of what a state copies from an event, in bytes of its JSON text (docs/reference/events.md#state-bounds).
 */
export const MAX_STATE_NAME_BYTES = 256
export const MAX_STATE_TEXT_BYTES = 4_096
export const MAX_STATE_LIST_BYTES = 8_192
export const MAX_STATE_PAYLOAD_BYTES = 8_192

/** No code unit takes more bytes in JSON: a control character is written as `\u0001`. */
const MOST_BYTES_PER_UNIT = 6
/** Control characters that have an escape of two characters: \b, \t, \n, \f and \r. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13])
/** Bytes of the mark of a cut: `… (cut, 9007199254740991 bytes, #1fffffffffffff)`. */
const MARK_BYTES = 56
/** Members of a payload that would get less than this are left out. */
const LEAST_SHARE_BYTES = 2 * MARK_BYTES

/** An id, a type, or another name. Different names stay different when they are cut. */
export const boundName = (text: string): string => boundText(text, MAX_STATE_NAME_BYTES)

/** A free text. */
export const boundProse = (text: string, bytes = MAX_STATE_TEXT_BYTES): string => boundText(text, bytes)

/** A list of such texts: the first ones, as far as they fit, and then the number of the others. */
export const boundTexts = (texts: ReadonlyArray<string>, bytes = MAX_STATE_LIST_BYTES): ReadonlyArray<string> => {
  const kept: Array<string> = []
  let left = bytes - MARK_BYTES
  for (const text of texts) {
    const bounded = boundText(text, MAX_STATE_TEXT_BYTES)
    left -= bytesOfText(bounded, left) + 1
    if (left < 0) return [...kept, more(texts.length - kept.length)]
    kept.push(bounded)
  }
  return kept
}

/**
 * A payload of any shape: itself when it fits. Otherwise its members in their order, the large ones cut to half of the
 * remaining bytes, and at the end the number of the others.
 */
export const boundPayload = (payload: Schema.Json, bytes = MAX_STATE_PAYLOAD_BYTES): Schema.Json =>
  bytesOf(payload, bytes) <= bytes ? payload : cut(payload, bytes)

/** The text itself when its JSON fits; else its beginning, with its size and a hash of all of it. */
const boundText = (text: string, bytes: number): string => {
  if (text.length * MOST_BYTES_PER_UNIT + 2 <= bytes || bytesOfText(text, bytes) <= bytes) return text
  const kept = text.slice(0, unitsWithin(text, bytes - 2 - MARK_BYTES))
  return detached(`${kept}… (cut, ${bytesOfText(text, Number.POSITIVE_INFINITY)} bytes, #${hashOf(text)})`)
}

/** A part of a text keeps all of it in memory in most engines; its copy does not. */
const detached = (text: string): string => JSON.parse(JSON.stringify(text))

const more = (count: number): string => `… (cut, ${count} more)`

const cut = (value: Schema.Json, bytes: number): Schema.Json => {
  if (isJsonArray(value)) return cutMembers(value, bytes, () => 1).map(([, member]) => member)
  if (isJsonObject(value)) {
    const entries = Object.entries(value)
    const kept = cutMembers(
      entries.map(([, member]) => member),
      bytes,
      (at) => bytesOfText(entries[at]?.[0] ?? "", bytes) + 2
    )
    return Object.fromEntries(kept.map(([at, member]) => [entries[at]?.[0] ?? "…", member]))
  }
  return typeof value === "string" ? boundText(value, bytes) : value
}

/** The members that fit, with their indexes; the last one counts the others. */
const cutMembers = (members: Schema.JsonArray, bytes: number, overhead: (at: number) => number) => {
  const kept: Array<readonly [number, Schema.Json]> = []
  let left = bytes - MARK_BYTES
  for (const [at, member] of members.entries()) {
    const remaining = left - overhead(at)
    const share = Math.floor(remaining / 2)
    const isWhole = bytesOf(member, share) <= share
    if (!isWhole && share < LEAST_SHARE_BYTES) return [...kept, [members.length, more(members.length - at)] as const]
    const taken = isWhole ? member : cut(member, share)
    left = remaining - bytesOf(taken, remaining)
    kept.push([at, taken])
  }
  return kept
}

/** Bytes of a value as JSON; some number above the limit when there are more. */
const bytesOf = (value: Schema.Json, limit: number): number => {
  if (typeof value === "string") return bytesOfText(value, limit)
  if (typeof value !== "object" || value === null) return String(value).length
  let bytes = 2
  if (isJsonArray(value)) {
    for (const member of value) {
      if (bytes > limit) return bytes
      bytes += bytesOf(member, limit - bytes) + 1
    }
    return bytes
  }
  for (const [key, member] of Object.entries(value)) {
    if (bytes > limit) return bytes
    bytes += bytesOfText(key, limit - bytes) + 2
    bytes += bytesOf(member, limit - bytes)
  }
  return bytes
}

/** Bytes of a text as JSON, with its quotes; some number above the limit when there are more. */
export const bytesOfText = (text: string, limit: number): number => {
  let bytes = 2
  for (let at = 0; at < text.length && bytes <= limit; at++) bytes += bytesOfUnit(text, at)
  return bytes
}

/** How many code units of a text fit into so many bytes of JSON; characters stay whole. */
const unitsWithin = (text: string, bytes: number): number => {
  let left = bytes
  let units = 0
  for (const character of text) {
    for (let at = units; at < units + character.length; at++) left -= bytesOfUnit(text, at)
    if (left < 0) break
    units += character.length
  }
  return units
}

const bytesOfUnit = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  if (unit < 0x20) return SHORT_ESCAPES.has(unit) ? 2 : MOST_BYTES_PER_UNIT
  if (unit === 0x22 || unit === 0x5c) return 2
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  // A lone surrogate is written as an escape; the halves of a pair take two bytes each.
  if (unit < 0xd800 || unit > 0xdfff) return 3
  const other = text.charCodeAt(unit < 0xdc00 ? at + 1 : at - 1)
  const isPaired = unit < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff
  return isPaired ? 2 : MOST_BYTES_PER_UNIT
}

/**
 * A hash of 53 bits that differs for texts with the same beginning: two lanes of multiply and shift, mixed at the end.
 */
const hashOf = (text: string): string => {
  let high = 0x9e3779b9
  let low = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x5bd1e995) ^ (low >>> 15)
  }
  high = Math.imul(high ^ (low >>> 13), 0xc2b2ae35) >>> 0
  low = Math.imul(low ^ (high >>> 16), 0x27d4eb2f) >>> 0
  return ((high & 0x1fffff) * 0x1_0000_0000 + low).toString(16)
}

/** Appends to a list that keeps its most recent `cap` items; the input stays as it is. */
export const appendCapped = <A>(items: ReadonlyArray<A>, item: A, cap: number): ReadonlyArray<A> => {
  const next = items.length >= cap ? items.slice(items.length - cap + 1) : items.slice()
  next.push(item)
  return next
}

export const replaceAt = <A>(items: ReadonlyArray<A>, at: number, item: A): ReadonlyArray<A> => {
  const next = items.slice()
  next[at] = item
  return next
}
