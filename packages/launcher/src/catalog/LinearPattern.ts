import * as Predicate from "effect/Predicate"
import { RE2JS } from "re2js"
import { isJsonObject, type Json, type JsonObject } from "../common/Json.ts"

/** A compiled pattern of a JSON Schema. `toString` is the pattern: the validator distinguishes patterns by it. */
export interface Pattern {
  readonly test: (text: string) => boolean
  readonly toString: () => string
}

/**
 * Compiles a pattern of a JSON Schema: an ECMAScript regular expression in Unicode mode. A pattern without
 * back-references and lookarounds runs on an engine whose time is linear in the text; the others run on the engine of
 * JavaScript, whose time may be exponential. Throws a SyntaxError for text that is not a pattern.
 */
export const compilePattern = (pattern: string): Pattern => {
  const native = new RegExp(pattern, "u")
  const linear = compileLinear(pattern)
  return { test: (text) => (linear ?? native).test(text), toString: () => pattern }
}

/** Whether the linear engine supports a valid pattern. */
export const isLinear = (pattern: string): boolean => compileLinear(pattern) !== undefined

const compileLinear = (pattern: string): RE2JS | undefined => {
  const translated = translate(pattern)
  if (translated === undefined) return undefined
  try {
    return RE2JS.compile(translated)
  } catch {
    return undefined
  }
}

/** The pieces of a pattern; each is translated by itself. */
const PIECE =
  /\\u\{[\dA-F]+\}|\\u[\dA-F]{4}(?:\\u[\dA-F]{4})?|\\c[A-Z]|\\[pP]\{[^}]*\}|\\.|\[\^?\]?|\(\?<?[=!]|\(\?[a-z-]*:|./gisu

/** What `\s` and `.` mean in ECMAScript; RE2 knows fewer characters of both kinds. */
const SPACES =
  "\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
const NOT_LINE_END = "[^\\n\\r\\x{2028}\\x{2029}]"

/** The pattern in the syntax of RE2; undefined where RE2 has nothing for a part of it. */
const translate = (pattern: string): string | undefined => {
  let inClass = false
  let translated = ""
  for (const [piece] of pattern.matchAll(PIECE)) {
    const next = inClass ? inClassPiece(piece) : outsidePiece(piece)
    if (next === undefined) return undefined
    if (piece.startsWith("[") && !inClass) inClass = true
    else if (piece === "]") inClass = false
    translated += next
  }
  return translated
}

const outsidePiece = (piece: string): string | undefined => {
  if (piece === ".") return NOT_LINE_END
  if (piece === "\\s") return `[${SPACES}]`
  if (piece === "\\S") return `[^${SPACES}]`
  // Lookarounds, modifiers, and classes that match nothing or everything.
  if (/^\(\?<?[=!]$|^\(\?.+:$|^\[\^?\]$/.test(piece)) return undefined
  return sharedPiece(piece)
}

const inClassPiece = (piece: string): string | undefined => {
  if (piece === "\\s") return SPACES
  if (piece === "\\S") return undefined
  if (piece === "\\b") return "\\x08"
  // Without the backslash, RE2 may read the name of a POSIX class.
  if (piece.startsWith("[")) return piece.replace("[", "\\[")
  return sharedPiece(piece)
}

const sharedPiece = (piece: string): string | undefined => {
  if (/^\\[1-9k]$/.test(piece)) return undefined
  if (piece === "\\0") return "\\x00"
  if (/^\\c/.test(piece)) return `\\x{${((piece.codePointAt(2) ?? 0) % 32).toString(16)}}`
  if (/^\\u/.test(piece)) return codePointsOf(piece)
  return piece.replace(/^(\\[pP]\{)(?:Script|sc|General_Category|gc)=/, "$1")
}

/** `\u` escapes; two that are the halves of one character are that character, any other half has no form in RE2. */
const codePointsOf = (escapes: string): string | undefined => {
  const units = escapes.split("\\u").slice(1)
  const text = units.map((unit) => String.fromCodePoint(Number.parseInt(unit.replace(/[{}]/g, ""), 16))).join("")
  if (!text.isWellFormed()) return undefined
  return Array.from(text, (character) => `\\x{${character.codePointAt(0)?.toString(16)}}`).join("")
}

/** A pattern of a schema and the keys that lead to it. */
export interface FoundPattern {
  readonly at: ReadonlyArray<string>
  readonly pattern: string
}

/** Keywords whose value is data, not a schema. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"])
/** Keywords whose value holds schemas by names of the author's choice. */
const NAMED: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "definitions",
  "$defs",
  "dependentSchemas"
])

/** Every `pattern` and key of `patternProperties` in a schema. */
export const patternsIn = (schema: JsonObject): ReadonlyArray<FoundPattern> => {
  const found: Array<FoundPattern> = []
  const visit = (value: Json | undefined, at: ReadonlyArray<string>, isNames: boolean) => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...at, String(index)], false)
      return
    }
    if (!isJsonObject(value)) return
    for (const [key, member] of Object.entries(value)) {
      const here = [...at, key]
      if (isNames) {
        if (at.at(-1) === "patternProperties") found.push({ at: here, pattern: key })
        visit(member, here, false)
      } else if (key === "pattern" && Predicate.isString(member)) found.push({ at: here, pattern: member })
      else if (!DATA.has(key)) visit(member, here, NAMED.has(key))
    }
  }
  visit(schema, [], false)
  return found
}
