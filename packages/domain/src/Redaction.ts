import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { cleanText } from "./CleanJson.ts"
import { isJsonArray, isJsonObject } from "./JsonReader.ts"
import type { JsonObject } from "./PayloadDecoder.ts"
import { type DecodedPayload, lossyTextOf, parseJsonText } from "./PayloadTypes.ts"
import { isCountName } from "./usage/TokenCounts.ts"

export const REDACTED = "[REDACTED]"

/**
 * Characters of text that one search of a pattern sees. A pattern such as `.*token` takes quadratic time on one long
 * line; longer text is searched window by window, which bounds that.
 */
export const REDACTION_WINDOW_CHARS = 8_192
/** Characters that neighbouring windows share: a match up to this long is found wherever it lies (a PEM key fits). */
export const REDACTION_OVERLAP_CHARS = 4_096

/** Replaces what the configured patterns match by `[REDACTED]` (docs/reference/events.md#redaction). */
export interface Redactor {
  /** False when there are no patterns: the functions that redact are then the identity. */
  readonly enabled: boolean
  readonly text: (text: string) => string
  /** Whether a text has a match, as it is or behind escapes of JSON. */
  readonly says: (text: string) => boolean
  /**
   * Redacts every value of the object, and the names of its members; returns the same object without a match.
   * Members that hold bytes (see `BYTES_MEMBERS`) are redacted inside their base64 form, and text that is JSON value by
   * value. `encoding` is that of the payload; of "json", the sender wrote the base64 itself.
   */
  readonly payload: (payload: JsonObject, encoding?: DecodedPayload["encoding"]) => JsonObject
}

/** Names of the payload members that are bytes on the wire and base64 text here. */
const BYTES_MEMBERS: ReadonlySet<string> = new Set([
  "data",
  "supportingData",
  "details",
  "input",
  "partialOutput",
  "output",
  "context",
  "payloadBase64"
])
/** The member whose own members are all bytes: SessionStart `extensions`. */
const BYTES_MAP = "extensions"

/** Members whose numbers this service reads, apart from the counts of `USAGE_NAMES`. */
const READ_NUMBERS: ReadonlySet<string> = new Set([
  ...["latencyMs", "latency_ms", "estimatedCostUsd", "estimated_cost_usd", "confidence", "progress", "total"],
  ...["percentage", "maxSuspendMs", "max_suspend_ms", "ttlMs", "ttl_ms", "requiredApprovals", "required_approvals"]
])

/** This service reads no larger number, whatever the name of its member. */
const MAX_READ_NUMBER = 1_000_000_000

/** Numbers that stay although a pattern matches their digits: without them the service would count wrongly. */
const isServiceNumber = (name: string, value: number): boolean =>
  (READ_NUMBERS.has(name) || isCountName(name)) && Math.abs(value) <= MAX_READ_NUMBER

/** All names by which the service reads payloads are of letters, so such a name stays. */
const LETTERS = /^[A-Za-z_]+$/
const isServiceName = (name: string): boolean => LETTERS.test(name) || BYTES_MEMBERS.has(name)

/**
 * Reads `PROTO_REDACT_PATTERNS`: JavaScript regular expressions separated by commas. A comma inside a quantifier
 * (`{2,4}`) does not separate, nor does one inside a class or group that only together with the next piece makes a
 * valid pattern. Invalid patterns are reported, for the caller to log, and the others still apply.
 */
export const makeRedactor = (
  patternsText: string
): { readonly redactor: Redactor; readonly invalid: ReadonlyArray<string> } => {
  const { patterns, invalid } = readPatterns(patternsText)
  return { redactor: patterns.length === 0 ? noRedactor : redactorOf(patterns), invalid }
}

export const noRedactor: Redactor = {
  enabled: false,
  text: (text) => text,
  says: () => false,
  payload: (payload) => payload
}

/** A comma that is not the one of a quantifier. */
const SEPARATOR = /,(?!(?<=\{\d+,)\d*\})/

const readPatterns = (text: string) => {
  const pieces = text.split(SEPARATOR)
  const patterns: Array<RegExp> = []
  const invalid: Array<string> = []
  for (let at = 0; at < pieces.length; at++) {
    const piece = (pieces[at] ?? "").trim()
    if (piece === "") continue
    const pattern = compile(piece) ?? compileJoined(pieces, at)
    if (pattern === undefined) {
      invalid.push(piece)
    } else if (pattern instanceof RegExp) {
      patterns.push(pattern)
    } else {
      patterns.push(pattern.pattern)
      at = pattern.lastPiece
    }
  }
  return { patterns, invalid }
}

const compile = (source: string, flags = "g"): RegExp | undefined => {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}

/**
 * Puts an invalid piece together with those after it until they are a pattern. Only when the last piece is not a
 * pattern of its own, so that a broken pattern never swallows a good one; the Unicode mode judges that, since it
 * refuses a lone bracket.
 */
const compileJoined = (pieces: ReadonlyArray<string>, first: number) => {
  let source = pieces[first] ?? ""
  for (let last = first + 1; last < pieces.length; last++) {
    const piece = pieces[last] ?? ""
    source = `${source},${piece}`
    const pattern = compile(piece, "u") === undefined ? compile(source.trim()) : undefined
    if (pattern !== undefined) return { pattern, lastPiece: last }
  }
  return undefined
}

const redactorOf = (patterns: ReadonlyArray<RegExp>): Redactor => {
  const text = (input: string): string => {
    let output = input
    for (const pattern of patterns) output = redactWith(pattern, output)
    // A pattern may have taken half of a surrogate pair.
    return output === input ? input : cleanText(output)
  }
  const matches = (input: string): boolean => text(input) !== input
  // JSON without a match in a decoded value can hold one all the same: a duplicate of a member is not decoded.
  const says = (input: string): boolean => matches(input) || (input.includes("\\u") && matches(unescaped(input)))
  /** Text that is JSON is redacted value by value, and stays JSON. */
  const written = (input: string): string => {
    const json = opensJson(input) ? parseJsonText(input) : undefined
    if (json === undefined) return text(input)
    const redacted = value(json, "", JSON_TEXT)
    return redacted !== json || says(input) ? JSON.stringify(redacted) : input
  }
  const bytes = (base64: string, { bytesAreBase64 }: Form): string => {
    const decoded = Base64.decode(base64)
    if (Result.isSuccess(decoded)) {
      const inner = lossyTextOf(decoded.success)
      const redacted = written(inner)
      if (redacted !== inner) return Base64.encode(redacted)
      if (bytesAreBase64) return base64
    }
    return written(base64)
  }
  const number = (input: number): Schema.Json => (matches(digitsOf(input)) ? REDACTED : input)
  const value = (input: Schema.Json, name: string, form: Form): Schema.Json => {
    if (typeof input === "string") return BYTES_MEMBERS.has(name) ? bytes(input, form) : written(input)
    if (typeof input === "number") return isServiceNumber(name, input) ? input : number(input)
    if (isJsonArray(input)) {
      const items = input.map((item) => value(item, typeof item === "string" ? name : "", form))
      return items.every((item, at) => item === input[at]) ? input : items
    }
    return isJsonObject(input) ? object(input, name === BYTES_MAP ? "payloadBase64" : undefined, form) : input
  }
  /** `as` is the name as which all members are read; undefined when each has its own. */
  const object = (input: JsonObject, as: string | undefined, form: Form): JsonObject => {
    let changed = false
    const output: Record<string, Schema.Json> = {}
    for (const [key, member] of Object.entries(input)) {
      const name = isServiceName(key) ? key : free(text(key), output)
      const redacted = value(member, as ?? key, form)
      if (name !== key || redacted !== member) changed = true
      output[name] = redacted
    }
    return changed ? output : input
  }
  return {
    enabled: true,
    text,
    says,
    payload: (payload, encoding) => object(payload, undefined, encoding === "json" ? JSON_TEXT : WIRE)
  }
}

/** What the members that hold bytes are: base64 that this service made of bytes, or what the sender wrote. */
interface Form {
  readonly bytesAreBase64: boolean
}
const WIRE: Form = { bytesAreBase64: true }
const JSON_TEXT: Form = { bytesAreBase64: false }

const opensJson = (text: string): boolean => /^\s*[[{]/.test(text)

const unescaped = (text: string): string =>
  text.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** A number as its digits, also where JavaScript would write an exponent. */
const digitsOf = (value: number): string => (Number.isInteger(value) ? BigInt(value).toString() : String(value))

/** The name, or the name with the next number that is not taken in `object`. */
const free = (name: string, object: Readonly<Record<string, unknown>>): string => {
  let unique = name
  for (let number = 2; Object.hasOwn(object, unique); number++) unique = `${name} ${number}`
  return unique
}

const redactWith = (pattern: RegExp, text: string): string =>
  text.length <= REDACTION_WINDOW_CHARS
    ? text.replace(pattern, (match) => (match === "" ? "" : REDACTED))
    : redactByWindows(pattern, text)

const redactByWindows = (pattern: RegExp, text: string): string => {
  const ranges: Array<{ start: number; end: number }> = []
  for (let offset = 0; ; offset += REDACTION_WINDOW_CHARS - REDACTION_OVERLAP_CHARS) {
    for (const match of text.slice(offset, offset + REDACTION_WINDOW_CHARS).matchAll(pattern)) {
      const start = offset + match.index
      if (match[0] !== "") ranges.push({ start, end: start + match[0].length })
    }
    if (offset + REDACTION_WINDOW_CHARS >= text.length) break
  }
  ranges.sort((a, b) => a.start - b.start)
  let output = ""
  let position = 0
  for (const { start, end } of ranges) {
    if (start >= position) output += text.slice(position, start) + REDACTED
    position = Math.max(position, end)
  }
  return output + text.slice(position)
}
