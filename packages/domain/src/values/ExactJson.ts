import type * as Schema from "effect/Schema"
import { cleanText, MAX_JSON_DEPTH } from "./CleanJson.ts"

/**
 * JSON as its sender wrote it. `JSON.parse` changes three things without an error: a number that a double cannot hold,
 * a key that an object has twice, and the key `__proto__`, which later code drops. Every text is checked for them:
 * events record them (docs/reference/events.md#exact-numbers), requests and packs with them are refused
 * (docs/reference/http.md#bodies).
 */

/** A thing that `JSON.parse` changes, with its keys and indexes from the root and its offset in the text. */
export interface JsonFault {
  readonly kind: "number" | "repeated" | "prototype"
  readonly path: ReadonlyArray<string>
  readonly offset: number
  /** The number as its sender wrote it; the key of the others. */
  readonly literal: string
}

/** The differences between a recorded payload and the text of its sender, as JSON pointers into the payload. */
export interface Altered {
  readonly numbersAsText?: ReadonlyArray<string>
  readonly repeatedKeys?: ReadonlyArray<string>
  readonly droppedKeys?: ReadonlyArray<string>
  /** Further changes that are not listed. */
  readonly more?: number
}

/** A parsed text, its numbers exact or kept as text. */
export interface ExactJson {
  readonly value: unknown
  readonly faults: JsonFaults
}

/** The first faults of a text, and how many follow. */
export interface JsonFaults {
  readonly listed: ReadonlyArray<JsonFault>
  readonly more: number
}

export const NO_FAULTS: JsonFaults = { listed: [], more: 0 }

/** Faults that are listed for one text; the others are counted. */
const MAX_LISTED = 20

/**
 * Parses JSON of at most `MAX_JSON_DEPTH` levels in linear time: numbers that a double cannot hold become their text,
 * of a key that is given twice the last value counts, and all of that is in `faults`. Undefined for every other text.
 */
export const parseExactJson = (text: string): ExactJson | undefined => {
  const value = parse(text)
  if (value === undefined) return undefined
  const shape = { members: 0, isDeep: false, hasPrototype: false }
  if (typeof value.parsed === "object" && value.parsed !== null) measure(value.parsed, MAX_JSON_DEPTH, shape)
  if (shape.isDeep) return undefined
  const isPlain = !shape.hasPrototype && shape.members === membersOf(text)
  return isPlain ? { value: value.parsed, faults: NO_FAULTS } : readExactly(text)
}

/** The first fault of a JSON text; undefined for text without one, that is not JSON, or that is too deep. */
export const jsonFault = (text: string): JsonFault | undefined => parseExactJson(text)?.faults.listed[0]

const MAX_NAMED_PATH = 200

/** `inputs.account must not be 12345678901234567890: ...`: the refusal of a fault, with the field's name. */
export const jsonFaultText = ({ kind, literal, path }: JsonFault): string => {
  const name = cut(path.join("."), MAX_NAMED_PATH)
  switch (kind) {
    case "number":
      return `${name === "" ? "the value" : name} must not be ${cut(literal, 40)}: a double cannot hold it, write it as text`
    case "repeated":
      return `${name} must not be given twice`
    case "prototype":
      return `${name} must not be used as a key`
  }
}

const cut = (text: string, length: number) => cleanText(text.length > length ? `${text.slice(0, length)}...` : text)

const MAX_POINTER = 256

/** The mark of an event for the faults of its payload; undefined without any. */
export const alteredOf = ({ listed, more }: JsonFaults): Altered | undefined => {
  if (listed.length === 0) return undefined
  const pointers = (kind: JsonFault["kind"]) => [
    ...new Set(listed.filter((fault) => fault.kind === kind).map(({ path }) => pointerOf(path)))
  ]
  const [numbersAsText, repeatedKeys, droppedKeys] = [pointers("number"), pointers("repeated"), pointers("prototype")]
  return {
    ...(numbersAsText.length > 0 && { numbersAsText }),
    ...(repeatedKeys.length > 0 && { repeatedKeys }),
    ...(droppedKeys.length > 0 && { droppedKeys }),
    ...(more > 0 && { more })
  }
}

/** The mark with other pointers. */
export const withPointers = (
  { droppedKeys, more, numbersAsText, repeatedKeys }: Altered,
  change: (pointer: string) => string
): Altered => ({
  ...(numbersAsText !== undefined && { numbersAsText: numbersAsText.map(change) }),
  ...(repeatedKeys !== undefined && { repeatedKeys: repeatedKeys.map(change) }),
  ...(droppedKeys !== undefined && { droppedKeys: droppedKeys.map(change) }),
  ...(more !== undefined && { more })
})

const pointerOf = (path: ReadonlyArray<string>) =>
  cut(path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""), MAX_POINTER)

/** The faults with a prefix before their paths. */
export const faultsBelow = (prefix: string, { listed, more }: JsonFaults): JsonFaults => ({
  listed: listed.map((fault) => ({ ...fault, path: [prefix, ...fault.path] })),
  more
})

/**
 * The faults of a decoded protobuf message: 64-bit integers that a double cannot hold, which the decoder leaves as
 * `bigint`, and the key `__proto__` of a map.
 */
export const messageFaults = (message: object): JsonFaults => {
  const faults = collector()
  const visit = (value: object, path: ReadonlyArray<string>) => {
    for (const [key, member] of Object.entries(value)) {
      if (key === "__proto__") faults.add("prototype", [...path, key], 0, key)
      if (typeof member === "bigint") faults.add("number", [...path, key], 0, String(member))
      else if (typeof member === "object" && member !== null) visit(member, [...path, key])
    }
  }
  visit(message, [])
  return faults.faults()
}

const collector = () => {
  const listed: Array<JsonFault> = []
  let more = 0
  return {
    add: (kind: JsonFault["kind"], path: ReadonlyArray<string>, offset: number, literal: string) => {
      if (listed.length < MAX_LISTED) listed.push({ kind, path: [...path], offset, literal })
      else more++
    },
    faults: (): JsonFaults => (listed.length === 0 ? NO_FAULTS : { listed, more })
  }
}

const parse = (text: string): { readonly parsed: unknown } | undefined => {
  try {
    return { parsed: JSON.parse(text) }
  } catch {
    return undefined
  }
}

interface Shape {
  members: number
  isDeep: boolean
  hasPrototype: boolean
}

/** Counts the members of all objects in a parsed value. A text without a repeated key has as many colons. */
const measure = (value: object, levels: number, shape: Shape): void => {
  if (levels === 0) {
    shape.isDeep = true
    return
  }
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "object" && item !== null) measure(item, levels - 1, shape)
    }
    return
  }
  if (Object.hasOwn(value, "__proto__")) shape.hasPrototype = true
  for (const member of Object.values(value)) {
    shape.members++
    if (typeof member === "object" && member !== null) measure(member, levels - 1, shape)
  }
}

const [QUOTE, BACKSLASH, COLON, DOT, ZERO, NINE, SPACE] = [0x22, 0x5c, 0x3a, 0x2e, 0x30, 0x39, 0x20]
const [UPPER_E, LOWER_E] = [0x45, 0x65]
/** Digits of an integer that may be beyond 2^53. */
const LONG_INTEGER = 16

const isDigit = (code: number) => code >= ZERO && code <= NINE

/**
 * The members of the objects in a JSON text, by its colons; -1 when a number has an exponent or so many digits that a
 * double may not hold it. This pass is what every payload pays, so it reads no string and makes no object.
 */
const membersOf = (text: string): number => {
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) members++
    else if (isDigit(code)) {
      const start = at
      while (isDigit(text.charCodeAt(at + 1))) at++
      const after = text.charCodeAt(at + 1)
      if (after === LOWER_E || after === UPPER_E) return -1
      if (at - start + 1 >= LONG_INTEGER && text.charCodeAt(start - 1) !== DOT) return -1
    }
  }
  return members
}

/** The offset of the quote that ends a string. */
const endOfString = (text: string, start: number): number => {
  let at = start
  do at = text.indexOf('"', at + 1)
  while (isEscaped(text, at))
  return at
}

const isEscaped = (text: string, at: number): boolean => {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

const SCALAR = /-?[\d.eE+-]+|true|false|null/y

/** Reads a text that is JSON and not too deep, which makes the reader as short as it is. */
const readExactly = (text: string): ExactJson => {
  const faults = collector()
  const path: Array<string> = []
  let at = 0
  const next = () => {
    while (text.charCodeAt(at) <= SPACE) at++
    return text.charAt(at)
  }
  const string = (): string => {
    const start = at
    at = endOfString(text, at) + 1
    return JSON.parse(text.slice(start, at))
  }
  const within = (key: string) => {
    path.push(key)
    const read = value()
    path.pop()
    return read
  }
  const array = (): ReadonlyArray<unknown> => {
    const items: Array<unknown> = []
    for (at++; next() !== "]"; ) {
      if (text.charAt(at) === ",") at++
      else items.push(within(String(items.length)))
    }
    at++
    return items
  }
  const object = (): object => {
    const members = new Map<string, unknown>()
    for (at++; next() !== "}"; ) {
      if (text.charAt(at) === ",") {
        at++
        continue
      }
      const offset = at
      const key = string()
      next()
      at++
      if (members.has(key)) faults.add("repeated", [...path, key], offset, key)
      if (key === "__proto__") faults.add("prototype", [...path, key], offset, key)
      members.set(key, within(key))
    }
    at++
    // fromEntries makes `__proto__` a member like any other.
    return Object.fromEntries(members)
  }
  const scalar = (): unknown => {
    SCALAR.lastIndex = at
    const [literal = ""] = SCALAR.exec(text) ?? []
    const offset = at
    at += literal.length
    const read: Schema.Json = JSON.parse(literal)
    if (typeof read !== "number" || isExactNumber(literal)) return read
    faults.add("number", path, offset, literal)
    return literal
  }
  const value = (): unknown => {
    switch (next()) {
      case "{":
        return object()
      case "[":
        return array()
      case '"':
        return string()
      default:
        return scalar()
    }
  }
  return { value: value(), faults: faults.faults() }
}

/** Smallest double with all of its digits. */
const SMALLEST_NORMAL = 2.2250738585072014e-308

const INTEGER = /^-?\d+$/

/**
 * Whether a double holds a number literal. An integer may have at most 2^53 - 1, as RFC 7493 requires. A fraction below
 * that is the nearest double, which keeps 15 digits at least. Every other number must be the shortest text of its
 * double: `1e23` is, `1e400` and `12345678901234567.5` are not.
 */
export const isExactNumber = (literal: string): boolean => {
  const value = Number(literal)
  const size = Math.abs(value)
  if (size >= SMALLEST_NORMAL && size <= Number.MAX_SAFE_INTEGER) return true
  if (size > Number.MAX_SAFE_INTEGER && INTEGER.test(literal)) return false
  return Number.isFinite(value) && decimalOf(literal) === decimalOf(String(value))
}

/** The significant digits of a positive or negative decimal and the power of ten of the first one: equal for equals. */
const decimalOf = (literal: string): string => {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().replace(/^-/, "").split("e")
  const [whole = "", fraction = ""] = mantissa.split(".")
  const digits = whole + fraction
  let first = 0
  while (digits.charCodeAt(first) === ZERO) first++
  let end = digits.length
  while (end > first && digits.charCodeAt(end - 1) === ZERO) end--
  return first === digits.length ? "0" : `${digits.slice(first, end)}e${whole.length - first + Number(exponent)}`
}
