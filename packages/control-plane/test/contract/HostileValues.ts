import type { Chance } from "@runplane/testing"
import { type DeclaredSchema, fieldsOf, itemsOf, resolved } from "./Declared.ts"

/** Marks a string that stands for raw JSON text, for what no value can say: 1e999, repeated keys. */
const RAW = "\u0001raw:"

export const rawJson = (text: string): string => `${RAW}${text}`

const HOSTILE_TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udfff\ud800",
  "\u2028\u2029",
  "\ufeff",
  "NaN",
  "Infinity",
  "-Infinity",
  "null",
  "undefined",
  "true",
  "[object Object]",
  "0x10",
  "1e3",
  "-0",
  "9223372036854775807",
  "9223372036854775808",
  "99999999999999999999999999",
  "1.5",
  "0.1",
  "'; DROP TABLE runs; --",
  "%_\\",
  "\\",
  "$1",
  "{}",
  "{1,2}",
  "(?<a>",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "2026-02-30T25:61:61Z",
  "2026-07-01",
  "0000-01-01T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  "-271821-04-20T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "infinity",
  "epoch",
  "2026-W01-1",
  "http://[::1",
  "http://\u0000/",
  "ＲＵＮ",
  "İ",
  "e\u0301".repeat(50),
  "👩‍👩‍👧‍👦",
  "\r\nset-cookie: a=b",
  "policy.default",
  "run.completed",
  "macp.mode.decision.v1"
]

const HOSTILE_NUMBERS = [
  0,
  -1,
  1.5,
  -0.5,
  0.1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e21,
  1e308,
  5e-324
]

const RAW_NUMBERS = ["1e999", "-1e999", "-0", "-0.0", "1E400", "123456789012345678901234567890", "0.1e-400", "1.0"]

const LONG = [100, 255, 256, 512, 4_000, 70_000, 300_000]

export const hostileText = (chance: Chance): string => {
  if (chance.happens(0.1)) return chance.pick(["x", "\u0000", "é", "\ud83d\ude00", ",", "/"]).repeat(chance.pick(LONG))
  // What does not compress is what indexes cannot hold.
  if (chance.happens(0.04)) return randomText(chance, chance.pick(LONG))
  if (chance.happens(0.2)) {
    const codes = Array.from({ length: 1 + chance.below(12) }, () => chance.below(0x10000))
    return String.fromCharCode(...codes)
  }
  return chance.pick(HOSTILE_TEXTS)
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** Passes for base64url, as session ids are. */
const randomText = (chance: Chance, length: number): string =>
  Array.from({ length }, () => ALPHABET.charAt(chance.below(ALPHABET.length))).join("")

const MAX_NESTING = 200_000

const nested = (chance: Chance): string => {
  const depth = 1 + chance.below(chance.pick([8, 100, 2_000, MAX_NESTING]))
  const [open, close] = chance.pick([
    ["[", "]"],
    ['{"a":', "}"]
  ] as const)
  return rawJson(`${open.repeat(depth)}null${close.repeat(depth)}`)
}

/** Any JSON, mostly of unexpected kinds. */
export const hostileJson = (chance: Chance, depth = 0): unknown => {
  const kind = chance.below(depth > 3 ? 6 : 10)
  if (kind < 2) return hostileText(chance)
  if (kind === 2) return chance.pick(HOSTILE_NUMBERS)
  if (kind === 3) return rawJson(chance.pick(RAW_NUMBERS))
  if (kind === 4) return chance.pick([null, true, false])
  if (kind === 5) return chance.pick([{}, [], [[]], [null], { "": "" }, { length: 1e9 }])
  if (kind === 6) return nested(chance)
  if (kind === 7) return Array.from({ length: chance.pick([1, 2, 3, 1_500]) }, () => chance.pick(HOSTILE_NUMBERS))
  if (kind === 8) return rawJson('{"__proto__":{"a":1},"constructor":{"prototype":{}},"a":1,"a":2}')
  return Object.fromEntries(
    Array.from({ length: 1 + chance.below(4) }, () => [hostileText(chance), hostileJson(chance, depth + 1)])
  )
}

/** A value that a field of this name should like, or undefined. */
export type Liked = (field: string, chance: Chance) => unknown

/** A value that the schema allows, mostly. */
export const fittingJson = (schema: DeclaredSchema, chance: Chance, liked: Liked, field = ""): unknown => {
  const own = resolved(schema)
  const choices = itemsOf(own["enum"])
  if (choices.length > 0) return chance.pick(choices)
  const wanted = liked(field, chance)
  if (wanted !== undefined) return wanted
  const alternatives = itemsOf(own["anyOf"] ?? own["oneOf"])
  if (alternatives.length > 0) return fittingJson(fieldsOf(chance.pick(alternatives)), chance, liked, field)
  const examples = itemsOf(own["examples"])
  if (examples.length > 0 && chance.happens(0.7)) return chance.pick(examples)
  switch (own["type"]) {
    case "object":
      return fittingObject(own, chance, liked)
    case "array": {
      const least = Number(own["minItems"] ?? 0)
      const items = fieldsOf(own["items"])
      return Array.from({ length: least + chance.below(3) }, () => fittingJson(items, chance, liked, field))
    }
    case "integer":
      return Number(own["minimum"] ?? 1) + chance.below(100)
    case "number":
      return Number(own["minimum"] ?? 0) + chance.real() * 10
    case "boolean":
      return chance.happens(0.5)
    default:
      if (own["format"] === "date-time") return "2026-07-01T10:00:00.000Z"
      if (own["format"] === "date") return "2026-07-01"
      // Any text is fine here, also one of the others.
      return chance.happens(0.15) ? hostileText(chance) : `text-${chance.below(1000)}`
  }
}

const fittingObject = (schema: DeclaredSchema, chance: Chance, liked: Liked): unknown => {
  const required = itemsOf(schema["required"])
  const properties = Object.entries(fieldsOf(schema["properties"]))
  if (properties.length === 0) return chance.happens(0.5) ? {} : { environment: "test", nested: { a: [1, null] } }
  return Object.fromEntries(
    properties
      .filter(([name]) => required.includes(name) || chance.happens(0.5))
      .map(([name, property]) => [name, fittingJson(fieldsOf(property), chance, liked, name)])
  )
}

/** The same value with one part of it made hostile: replaced, removed, doubled or joined by another. */
export const mutated = (value: unknown, chance: Chance): unknown => {
  if (Array.isArray(value)) {
    if (value.length === 0 || chance.happens(0.3)) return [...value, hostileJson(chance)]
    const at = chance.below(value.length)
    return value.map((item, index) => (index === at ? mutated(item, chance) : item))
  }
  if (typeof value !== "object" || value === null) return hostileJson(chance)
  const entries = Object.entries(value)
  if (entries.length === 0 || chance.happens(0.15)) {
    return { ...value, [chance.happens(0.5) ? hostileText(chance) : "kickoff"]: hostileJson(chance) }
  }
  const [key] = chance.pick(entries)
  if (chance.happens(0.15)) return Object.fromEntries(entries.filter(([name]) => name !== key))
  return Object.fromEntries(entries.map(([name, inner]) => [name, name === key ? mutated(inner, chance) : inner]))
}

/** The JSON text of a value in which raw parts may stand. */
export const jsonTextOf = (value: unknown): string => {
  const raw: Array<string> = []
  const text = JSON.stringify(value, (_key, inner) => {
    if (typeof inner !== "string" || !inner.startsWith(RAW)) return inner
    raw.push(inner.slice(RAW.length))
    return RAW
  })
  // In the order of the walk, as the marks stand in the text.
  return text === undefined ? "" : text.replaceAll(JSON.stringify(RAW), () => raw.shift() ?? "null")
}
