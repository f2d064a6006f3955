import { shownText } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { type Aliases, type Fact, type Facts, makeAliases, type Words } from "./Facts.ts"

/**
 * Bounds of answers (docs/reference/mcp.md#bounds), as pure code. An answer is sent twice, as text and as structured
 * content, so its JSON has at most half of the bytes of the limit.
 */

export type Json = Schema.Json
export type JsonObject = Schema.JsonObject

/** Longest row of a list, bytes of JSON. */
export const MAX_ROW_BYTES = 300
/** Longest free text, characters. */
export const MAX_TEXT = 500
/** Longest text of an alias in a row, characters and bytes of JSON: a row and its names fit into every answer. */
const MAX_NAME = 120
const MAX_NAME_BYTES = 300

/** Something that an agent or another person wrote; it comes last in an answer. */
export interface Said {
  /** Where it was said and by whom: short values. */
  readonly of: Facts
  readonly text: string
}

/** One entry of a list: its row, the texts that belong to it, and the cursor that continues behind it. */
export interface Item {
  readonly row?: Facts
  /** The sentence of the row, its member `does`; left out of a row that it makes too long. */
  readonly does?: Words | undefined
  readonly said?: ReadonlyArray<Said>
  readonly cursor?: string | number | undefined
}

export interface Answer {
  /** Names, ids and numbers. */
  readonly facts: Facts
  /** Members that stay as they are: tokens, and what the caller wrote itself. */
  readonly exact?: JsonObject | undefined
  /** The entries of a list; undefined for answers that are not a list. */
  readonly items?: ReadonlyArray<Item> | undefined
  /** Texts that belong to no entry. */
  readonly said?: ReadonlyArray<Said> | undefined
  /** The cursor behind the whole page; undefined at the end. */
  readonly nextCursor?: string | number | undefined
  /** Entries behind the page, where their number is known. */
  readonly omitted?: number | undefined
  /** The tool that has the whole of a cut text. */
  readonly rest: string
}

/** Bytes of the JSON text in UTF-8. */
export const bytesOf = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length

/** The start of a longer text, without half of a surrogate pair at its end. */
const startOf = (text: string, length: number): string => {
  if (text.length <= length) return text
  const start = text.slice(0, length)
  const last = start.charCodeAt(start.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? start.slice(0, -1) : start
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface Caps {
  readonly text: number
  readonly entries: number
  readonly keys: number
  readonly depth: number
}

/** Each step keeps less of a value than the step before. */
const STEPS: ReadonlyArray<Caps> = [
  { text: MAX_TEXT, entries: 50, keys: 60, depth: 12 },
  { text: 300, entries: 25, keys: 50, depth: 10 },
  { text: 160, entries: 12, keys: 40, depth: 8 },
  { text: 80, entries: 6, keys: 30, depth: 6 },
  { text: 40, entries: 3, keys: 20, depth: 4 },
  { text: 24, entries: 1, keys: 10, depth: 2 },
  { text: 8, entries: 0, keys: 4, depth: 1 }
]

/** The value within the caps. An object with a cut member says so, and how many entries of a list are missing. */
const capped = (value: Json, caps: Caps): Json => {
  if (typeof value === "string") return startOf(value, caps.text)
  if (Array.isArray(value)) {
    return caps.depth === 0 ? [] : value.slice(0, caps.entries).map((entry) => capped(entry, deeper(caps)))
  }
  if (!isObject(value)) return value
  const entries = caps.depth === 0 ? [] : Object.entries(value).slice(0, caps.keys)
  const kept = entries.map(([key, member]): [string, Json] => [
    startOf(key, MAX_TEXT),
    member === undefined ? null : capped(member, deeper(caps))
  ])
  const missing = entries.flatMap(([key, member]): ReadonlyArray<[string, Json]> => {
    const omitted = Array.isArray(member) ? member.length - Math.min(member.length, caps.entries) : 0
    return omitted === 0 ? [] : [[`${startOf(key, MAX_TEXT)}Omitted`, omitted]]
  })
  const isCut =
    entries.length < Object.keys(value).length ||
    entries.some(([, member]) => typeof member === "string" && member.length > caps.text)
  return Object.fromEntries([...kept, ...missing, ...(isCut ? [["cut", true] as const] : [])])
}

const deeper = (caps: Caps): Caps => ({ ...caps, depth: caps.depth - 1 })

/** The object within so many bytes: texts, lists and keys become shorter until it fits. */
export const within = (value: JsonObject, bytes: number): JsonObject => {
  for (const caps of STEPS) {
    const smaller = capped(value, caps)
    if (isObject(smaller) && bytesOf(smaller) <= bytes) return smaller
  }
  return { cut: true }
}

/** A row of at most `MAX_ROW_BYTES`. */
export const fitRow = (row: JsonObject): JsonObject => within(row, MAX_ROW_BYTES)

/** The row of an entry. A sentence is never cut: the rest of a cut alias would be another alias. */
const rowOf = ({ does, row }: Item, { refer }: Aliases): JsonObject | undefined => {
  if (row === undefined) return undefined
  const whole = does === undefined ? undefined : refer({ ...row, does })
  return whole !== undefined && bytesOf(whole) <= MAX_ROW_BYTES ? whole : fitRow(refer(row))
}

/** A text of others, cleaned and cut to so many characters, and the tool that has the whole. */
const fitText = (text: string, most: number, rest: string): JsonObject => {
  const clean = shownText(text, { lines: true })
  return clean.length <= most ? { text: clean } : { text: startOf(clean, most), cut: true, rest }
}

/** The name of an alias in a row: it fits into `MAX_NAME_BYTES`. */
const fitName = (alias: string, text: string, rest: string): JsonObject => {
  const sizes = [MAX_NAME, MAX_NAME / 2, MAX_NAME / 4, MAX_NAME / 8]
  const fitting = sizes.find((most) => bytesOf(fitText(text, most, rest)) <= MAX_NAME_BYTES)
  return { alias, ...fitText(text, fitting ?? 0, rest) }
}

/** Lengths of the texts of aliases in facts: the longest with which all of them fit. */
const NAME_LENGTHS = [MAX_TEXT, 240, MAX_NAME, 60, 24]

/** The entries of aliases within so many bytes; those that do not fit are left out, and counted. */
const fitAliases = (used: ReadonlyArray<readonly [string, string]>, bytes: number, rest: string) => {
  const sized = (most: number) => used.map(([alias, text]): JsonObject => ({ alias, ...fitText(text, most, rest) }))
  const all = NAME_LENGTHS.map(sized).find((entries) => bytesOf(entries) <= bytes) ?? sized(24)
  const kept: Array<JsonObject> = []
  let left = bytes
  for (const entry of all) {
    left -= bytesOf(entry) + 1
    if (left < 0) break
    kept.push(entry)
  }
  return { kept, omitted: all.length - kept.length }
}

/** Bytes for the members of the envelope beside facts, rows and texts. */
const ENVELOPE_BYTES = 600

/**
 * The answer within `maxBytes`, counted over text and structured content together: facts, then rows, then `nextCursor`
 * and `omitted`, and the texts of others last, under `said`. A text that is not an identifier has an alias in every
 * other position. Entries that do not fit are left to the next page.
 */
export const shape = (answer: Answer, maxBytes: number): JsonObject => {
  const half = Math.floor(maxBytes / 2)
  const { exact = {}, items = [], rest, said: loose = [] } = answer
  const entries: ReadonlyArray<Item> = [...items, ...loose.map((text) => ({ said: [text] }))]
  const aliases = makeAliases()
  const free = Math.max(16, half - ENVELOPE_BYTES - (answer.exact === undefined ? 0 : bytesOf(exact)))
  const referred = aliases.refer(answer.facts)
  const hasTexts = entries.length > 0 || aliases.usedIn(JSON.stringify(referred)).length > 0
  const facts = within(referred, hasTexts ? Math.max(16, Math.floor(free / 2)) : free)
  let left = free - bytesOf(facts)
  const usedByFacts = aliases.usedIn(JSON.stringify(facts))
  const names = fitAliases(usedByFacts, entries.length === 0 ? left : Math.floor(left / 2), rest)
  left -= names.kept.reduce((sum, entry) => sum + bytesOf(entry) + 1, 0)
  const known = new Set(usedByFacts.map(([alias]) => alias))
  const rows: Array<JsonObject> = []
  const said: Array<JsonObject> = []
  const namesOfRows: Array<JsonObject> = []
  let taken = 0
  let cursor: string | number | undefined
  for (const item of entries) {
    const row = rowOf(item, aliases)
    const texts = (item.said ?? []).map(
      ({ of, text }): JsonObject => ({ ...within(aliases.refer(of), MAX_ROW_BYTES), ...fitText(text, MAX_TEXT, rest) })
    )
    const parts = [...(row === undefined ? [] : [row]), ...texts]
    const fresh = aliases.usedIn(JSON.stringify(parts.map(({ text: _, ...of }) => of)))
    const newNames = fresh.filter(([alias]) => !known.has(alias))
    const named = newNames.map(([alias, text]) => fitName(alias, text, rest))
    const bytes = [...parts, ...named].reduce((sum, entry) => sum + bytesOf(entry) + 1, 0)
    if (bytes > left) break
    left -= bytes
    taken += 1
    cursor = item.cursor ?? cursor
    for (const [alias] of newNames) known.add(alias)
    if (row !== undefined) rows.push(row)
    said.push(...texts)
    namesOfRows.push(...named)
  }
  const isWhole = taken >= items.length
  const nextCursor = isWhole ? answer.nextCursor : cursor
  const omitted = entries.length - taken + (answer.omitted ?? 0)
  const texts = [...said, ...names.kept, ...namesOfRows]
  return {
    ...exact,
    ...facts,
    ...(answer.items !== undefined && { rows }),
    ...(nextCursor !== undefined && {
      nextCursor: typeof nextCursor === "string" ? startOf(nextCursor, MAX_TEXT) : nextCursor
    }),
    ...(omitted > 0 && { omitted }),
    ...(names.omitted > 0 && { saidOmitted: names.omitted }),
    ...(texts.length > 0 && { said: texts })
  }
}

/** The object without its undefined members. */
export const defined = <Value extends Fact>(value: Readonly<Record<string, Value | undefined>>) => {
  const entries = Object.entries(value).flatMap(
    ([key, member]): ReadonlyArray<readonly [string, Value]> => (member === undefined ? [] : [[key, member]])
  )
  return Object.fromEntries(entries)
}
