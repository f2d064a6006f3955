import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { type DecodedPayload, lossyTextOf, parseJsonObject, parseJsonText } from "../frames/PayloadTypes.ts"
import { isCountName } from "../usage/TokenCounts.ts"
import { cleanText } from "../values/CleanJson.ts"
import { isJsonArray, isJsonObject } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type Leaf, leavesOf } from "./Leaves.ts"
import { type Range, REDACTED, REDACTION_OVERLAP_CHARS, rangesOf, readPatterns, redactWith } from "./Patterns.ts"

export { REDACTED, REDACTION_OVERLAP_CHARS, REDACTION_WINDOW_CHARS } from "./Patterns.ts"

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
   * value. A match that spans several of names and values replaces the values. `encoding` is that of the payload; of
   * "json", the sender wrote the base64 itself.
   */
  readonly payload: (payload: JsonObject, encoding?: DecodedPayload["encoding"]) => JsonObject
  /** The redacted form of a decoded payload, and of its bytes. */
  readonly frame: (decoded: DecodedPayload, bytes: Uint8Array) => RedactedPayload
}

/** A payload as it is stored. */
export interface RedactedPayload {
  readonly payload: JsonObject
  /** Whether it replaces the bytes of its sender, which have a match. */
  readonly isRedacted: boolean
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
  payload: (payload) => payload,
  frame: ({ payload }) => ({ payload, isRedacted: false })
}

/** Passes over a text whose values are replaced: a replaced value can make a match of its neighbours. */
const MOST_PASSES = 8
/** Different matches of a payload that are compared with its redacted form. */
const MOST_COMPARED = 1_000
/** What is stored of a payload that cannot be redacted value by value. */
const WITHHELD: JsonObject = { redacted: REDACTED }

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
  const found = (input: string): ReadonlyArray<Range> => patterns.flatMap((pattern) => rangesOf(pattern, input))
  /** Whether a match takes the value of a leaf with it. */
  const takes = (input: string, { end, start }: Range, leaf: Leaf, { bytesAreBase64, isSearched }: Form): boolean => {
    const { from, isMember, kind, name, outer, to } = leaf
    if (start >= to || end <= from) return false
    if (isMember && kind === "number" && isServiceNumber(name, Number(input.slice(from, to)))) return false
    const inside = input.slice(from, to)
    if (withoutMarks(inside.slice(Math.max(0, start - from), end - from), inside) === "") return false
    if (start < from || end > to) return true
    if (kind === "literal" || !isSearched) return false
    // What a value says by itself is redacted already: here it matches by what is beside it.
    if (bytesAreBase64 && (BYTES_MEMBERS.has(name) || outer === BYTES_MAP)) return !isBase64(inside)
    return kind === "number" || !isJsonWithin(inside)
  }
  /** JSON text without the values of matches that span names and values; undefined when they do not end. */
  const spanned = (json: string, form: Form): string | undefined => {
    let output = json
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const ranges = found(output)
      const taken =
        ranges.length === 0 ? [] : takenBy(ranges, leavesOf(output), (range, leaf) => takes(output, range, leaf, form))
      if (taken.length === 0) return output
      output = withoutLeaves(output, taken)
    }
    return undefined
  }
  /** Whether matches of a text are missing in what is stored of it. */
  const isGone = (input: string, kept: string): boolean => {
    const plain = withoutSpaces(kept)
    for (const form of input.includes("\\u") ? [input, unescaped(input)] : [input]) {
      const said = new Set(found(form).map(({ end, start }) => form.slice(start, end)))
      if (said.size > MOST_COMPARED) return true
      for (const match of said) if (!plain.includes(withoutSpaces(match))) return true
    }
    return false
  }
  /** Text that is JSON is redacted value by value, and stays JSON. */
  const written = (input: string): string => {
    const json = opensJson(input) ? parseJsonText(input) : undefined
    if (json === undefined) return text(input)
    const source = spanned(input, SENT)
    const given = source === undefined || source === input ? json : parseJsonText(source)
    const redacted = given === undefined ? undefined : value(given, "", JSON_TEXT)
    const output = redacted === undefined ? undefined : spanned(JSON.stringify(redacted), JSON_TEXT)
    if (source === undefined || output === undefined) return REDACTED
    const isSame = source === input && redacted === json && output === JSON.stringify(json)
    return isSame && !isGone(input, output) ? input : output
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
  /** The value of a member, also as text in which its name stands before it. It is read as a member called `as`. */
  const named = (key: string, as: string, input: Schema.Json, form: Form): Schema.Json => {
    if (isJsonArray(input)) {
      const items = input.map((item) => named(key, as, item, form))
      return items.every((item, at) => item === input[at]) ? input : items
    }
    if (typeof input !== "string" && typeof input !== "number") return input
    const kind = typeof input === "string" ? "text" : "number"
    const value = String(input).slice(0, REDACTION_OVERLAP_CHARS)
    const isTaken = SEPARATORS.some((between) => {
      const [line, from] = [`${key}${between}${value}`, key.length + between.length]
      const leaf = {
        kind,
        start: from,
        end: line.length,
        from,
        to: line.length,
        name: as,
        outer: "",
        isMember: true
      } as const
      const taking = found(line).filter((range) => takes(line, range, leaf, form))
      // JSON is redacted value by value already.
      return taking.some(({ start }) => start < from) || (taking.length > 0 && !isJson(input))
    })
    return isTaken ? REDACTED : input
  }
  /** `as` is the name as which all members are read; undefined when each has its own. */
  const object = (input: JsonObject, as: string | undefined, form: Form): JsonObject => {
    let changed = false
    const output: Record<string, Schema.Json> = {}
    for (const [key, member] of Object.entries(input)) {
      const name = isServiceName(key) ? key : free(text(key), output)
      const redacted = named(key, as ?? key, value(member, as ?? key, form), form)
      if (name !== key || redacted !== member) changed = true
      output[name] = redacted
    }
    return changed ? output : input
  }
  const payload = (input: JsonObject, encoding?: DecodedPayload["encoding"]): JsonObject => {
    const form = encoding === "json" ? JSON_TEXT : WIRE
    const redacted = object(input, undefined, form)
    const json = JSON.stringify(redacted)
    const output = spanned(json, form)
    if (output === json) return redacted
    return (output === undefined ? undefined : parseJsonObject(output)) ?? WITHHELD
  }
  const frame = (decoded: DecodedPayload, wire: Uint8Array): RedactedPayload => {
    const said = lossyTextOf(wire)
    const isJson = decoded.encoding === "json"
    const source = isJson ? spanned(said, SENT) : said
    if (source === undefined) return { payload: WITHHELD, isRedacted: true }
    const redacted = payload(source === said ? decoded.payload : reread(decoded.payload, source), decoded.encoding)
    if (redacted !== decoded.payload) return { payload: redacted, isRedacted: true }
    const isRedacted = isGone(said, readable(redacted))
    // A value that a match of the bytes goes through may stand in the payload without it.
    return { payload: isRedacted && !isJson ? WITHHELD : redacted, isRedacted }
  }
  return { enabled: true, text, says, payload, frame }
}

/** What the members that hold bytes are: base64 that this service made of bytes, or what the sender wrote. */
interface Form {
  readonly bytesAreBase64: boolean
  /** Whether the values are searched already. */
  readonly isSearched: boolean
}
const WIRE: Form = { bytesAreBase64: true, isSearched: true }
const JSON_TEXT: Form = { bytesAreBase64: false, isSearched: true }
const SENT: Form = { bytesAreBase64: false, isSearched: false }

/** How a name and its value stand in texts that are not JSON. */
const SEPARATORS = ["=", ": "]

/** The part of a value without `[REDACTED]`, also where it begins or ends inside of the mark. */
const withoutMarks = (part: string, whole: string): string =>
  whole.includes(REDACTED) && REDACTED.includes(part) ? "" : part.replaceAll(REDACTED, "")

const isJson = (value: string | number): boolean =>
  typeof value === "string" && opensJson(value) && parseJsonText(value) !== undefined

const withoutSpaces = (text: string): string => text.replace(/\s+/g, "")

const isBase64 = (text: string): boolean => Result.isSuccess(Base64.decode(text))

/** Whether the inside of a JSON text is a text that is JSON itself. */
const isJsonWithin = (inside: string): boolean => {
  const said = opensJson(inside) ? parseJsonText(`"${inside}"`) : undefined
  return typeof said === "string" && isJson(said)
}

/** The leaves that a range takes. Both are in the order of the text. */
const takenBy = (
  ranges: ReadonlyArray<Range>,
  leaves: ReadonlyArray<Leaf>,
  takes: (range: Range, leaf: Leaf) => boolean
): ReadonlyArray<Leaf> => {
  const taken = new Set<Leaf>()
  for (const range of ranges) {
    for (let at = firstAfter(leaves, range.start); at < leaves.length; at++) {
      const leaf = leaves[at]
      if (leaf === undefined || leaf.from >= range.end) break
      if (!taken.has(leaf) && takes(range, leaf)) taken.add(leaf)
    }
  }
  return leaves.filter((leaf) => taken.has(leaf))
}

/** The number of leaves that end at or before an offset. */
const firstAfter = (leaves: ReadonlyArray<Leaf>, offset: number): number => {
  let [low, high] = [0, leaves.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((leaves[middle]?.to ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low
}

const withoutLeaves = (json: string, leaves: ReadonlyArray<Leaf>): string => {
  let output = ""
  let position = 0
  for (const { end, start } of leaves) {
    output += `${json.slice(position, start)}"${REDACTED}"`
    position = end
  }
  return output + json.slice(position)
}

/** The payload of JSON bytes, from their redacted text. A value that is not an object has a member of its own. */
const reread = (payload: JsonObject, json: string): JsonObject => {
  const object = parseJsonObject(json)
  return object ?? { ...payload, json: parseJsonText(json) ?? REDACTED }
}

/** The JSON of a payload, with the text of the members that hold bytes. */
const readable = (payload: JsonObject): string => {
  const texts: Array<string> = []
  const json = JSON.stringify(payload, (_, value: unknown) => {
    if (typeof value === "string") {
      const bytes = Base64.decode(value)
      texts.push(value, ...(Result.isSuccess(bytes) ? [lossyTextOf(bytes.success)] : []))
    }
    return value
  })
  return [json, ...texts].join("\n")
}

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
