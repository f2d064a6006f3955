import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { cleanText } from "./CleanJson.ts"
import { isJsonArray, isJsonObject } from "./JsonReader.ts"
import type { JsonObject } from "./PayloadDecoder.ts"
import { lossyTextOf } from "./PayloadTypes.ts"

export const REDACTED = "[REDACTED]"

/**
 * Characters of text that one search of a pattern sees. A pattern such as `.*token` takes quadratic time on one long
 * line; longer text is searched window by window, which bounds that.
 */
export const REDACTION_WINDOW_CHARS = 8_192
/** Characters that neighbouring windows share: a match up to this long is found wherever it lies (a PEM key fits). */
export const REDACTION_OVERLAP_CHARS = 4_096

/** Replaces what the configured patterns match by `[REDACTED]`. */
export interface Redactor {
  /** False when there are no patterns: both functions are then the identity. */
  readonly enabled: boolean
  readonly text: (text: string) => string
  /**
   * Redacts every string value of the object; the same object comes back when nothing matched. Members that hold bytes
   * (see `BYTES_MEMBERS`) are redacted inside their base64 form as well.
   */
  readonly payload: (payload: JsonObject) => JsonObject
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

export const noRedactor: Redactor = { enabled: false, text: (text) => text, payload: (payload) => payload }

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
  const bytes = (base64: string): string => {
    const decoded = Base64.decode(base64)
    if (Result.isSuccess(decoded)) {
      const inner = lossyTextOf(decoded.success)
      const redacted = text(inner)
      if (redacted !== inner) return Base64.encode(redacted)
    }
    return text(base64)
  }
  const value = (input: Schema.Json, isBytes: boolean): Schema.Json => {
    if (typeof input === "string") return isBytes ? bytes(input) : text(input)
    if (isJsonArray(input)) {
      const items = input.map((item) => value(item, isBytes))
      return items.every((item, at) => item === input[at]) ? input : items
    }
    return isJsonObject(input) ? object(input, false) : input
  }
  const object = (input: JsonObject, allBytes: boolean): JsonObject => {
    let changed = false
    const output: Record<string, Schema.Json> = {}
    for (const [key, member] of Object.entries(input)) {
      const redacted =
        key === BYTES_MAP && isJsonObject(member)
          ? object(member, true)
          : value(member, allBytes || BYTES_MEMBERS.has(key))
      if (redacted !== member) changed = true
      output[key] = redacted
    }
    return changed ? output : input
  }
  return { enabled: true, text, payload: (payload) => object(payload, false) }
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
