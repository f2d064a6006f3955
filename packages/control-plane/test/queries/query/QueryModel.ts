import type { DescribedField } from "@runplane/api"
import type { Query, QueryValue } from "@runplane/domain"
import type { Chance } from "@runplane/testing"

/** An entry: the values of each field, and the text that bare words are searched in. */
export interface Facts {
  readonly values: (field: string, path: string | undefined) => ReadonlyArray<QueryValue>
  readonly text: string
  /** Whether that text is JSON, with words in their JSON form. */
  readonly isJson?: boolean
}

/** Figures exist when they are above zero. */
const FIGURES = new Set(["cost", "tokens", "events", "signals", "decisions"])
const FOLDED = new Set(["scenarioRef"])

const asWritten = (word: string, { isJson }: Facts) => (isJson === true ? JSON.stringify(word).slice(1, -1) : word)

/** A second implementation of queries, without a database. */
export const isMatch = (query: Query, facts: Facts): boolean => {
  switch (query.kind) {
    case "and":
      return query.of.every((part) => isMatch(part, facts))
    case "or":
      return query.of.some((part) => isMatch(part, facts))
    case "not":
      return !isMatch(query.of, facts)
    case "search":
      return facts.text.toLowerCase().includes(asWritten(query.text, facts).toLowerCase())
    default: {
      const same = (value: QueryValue) =>
        query.field === "mark"
          ? JSON.stringify(value)
          : FOLDED.has(query.field) || typeof value !== "string"
            ? String(value).toLowerCase()
            : value
      const isOrdered = query.kind === "range" || (query.kind === "compare" && query.op !== "eq")
      const known = facts
        .values(query.field, query.path)
        // Of a field of any values, only numbers have an order, and a text is not a number that looks the same.
        .filter((value) => query.field !== "mark" || !isOrdered || typeof value === "number")
      if (query.kind === "has") return known.some((value) => !FIGURES.has(query.field) || Number(value) > 0)
      if (query.kind === "in") return known.some((value) => query.values.some((wanted) => same(wanted) === same(value)))
      if (query.kind === "range") {
        const { from, to } = query
        return known.some((value) => (from === undefined || value >= from) && (to === undefined || value <= to))
      }
      const { op, value: wanted } = query
      return known.some((value) => {
        if (op === "eq") return same(value) === same(wanted)
        return op === "gt"
          ? value > wanted
          : op === "gte"
            ? value >= wanted
            : op === "lt"
              ? value < wanted
              : value <= wanted
      })
    }
  }
}

const quoted = (value: unknown) => `"${String(value).replace(/["\\]/g, "\\$&")}"`

const HOSTILE = [
  "'; DROP TABLE runs; --",
  "%",
  "_",
  "\\",
  "$1",
  "{}",
  "NULL",
  "\u{1F600}",
  "é",
  "a\nb",
  "-1",
  "x".repeat(600)
]

/** A query over these fields, mostly with values of existing entries. */
export const someQuery = (
  chance: Chance,
  fields: ReadonlyArray<DescribedField>,
  entries: ReadonlyArray<Facts>,
  paths: ReadonlyArray<string>,
  depth = 0,
  markPaths: ReadonlyArray<string> = ["none"]
): string => {
  const term = (): string => {
    if (depth < 3 && chance.happens(0.2)) return `(${someQuery(chance, fields, entries, paths, depth + 1, markPaths)})`
    if (chance.happens(0.1)) return quoted(chance.happens(0.5) ? chance.pick(HOSTILE) : chance.pick(["a", "run", "1"]))
    const field = chance.pick(fields)
    if (field.hasAny === true && chance.happens(0.1)) return `has:${field.name}`
    const path = field.dotted === true ? chance.pick(field.type === "value" ? markPaths : paths) : undefined
    const name = path === undefined ? field.name : `${field.name}.${path}`
    if (chance.happens(0.1)) return `has:${name}`
    const value = () => {
      const known = chance.pick(entries).values(field.name, path)
      if (known.length > 0 && chance.happens(0.9)) {
        const found = chance.pick(known)
        return field.type === "value" && typeof found !== "string" ? String(found) : quoted(found)
      }
      switch (field.type) {
        case "number":
          return chance.pick(["0", "-1", "0.5", "1e9", "99999999999999999999", "1"]).replace("1e9", "1000000000")
        case "time":
          return chance.pick(["2026-07-01", "0001-01-01", "9999-12-31", "2026-07-02T10:00Z"])
        case "flag":
          return chance.pick(["true", "false"])
        case "uuid":
          return "00000000-0000-4000-8000-000000000000"
        case "value":
          return chance.pick(["0.5", "-1", "true", "false", "rude", '"1"', '"true"', "1"])
        default:
          return quoted(field.values === undefined ? chance.pick(HOSTILE) : chance.pick(field.values))
      }
    }
    if (field.type === "value" && chance.happens(0.4)) {
      const bound = chance.pick(["0", "0.25", "0.5", "-1", "1"])
      return chance.happens(0.5) ? `${name}:${chance.pick([">", ">=", "<", "<="])}${bound}` : `${name}:${bound}..1`
    }
    const isOrdered = field.type === "number" || field.type === "time"
    if (isOrdered && chance.happens(0.4)) return `${name}:${chance.pick([">", ">=", "<", "<="])}${value()}`
    if (isOrdered && chance.happens(0.3)) return `${name}:${value()}..${chance.happens(0.7) ? value() : ""}`
    if (chance.happens(0.2)) return `${name}:(${value()},${value()})`
    return `${name}:${value()}`
  }
  const terms = Array.from({ length: 1 + chance.below(3) }, () => `${chance.happens(0.2) ? "-" : ""}${term()}`)
  return terms.join(chance.happens(0.3) ? " OR " : " ")
}
