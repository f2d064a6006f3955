import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { jsonText } from "../../JsonText.ts"
import type { Column } from "../../Table.ts"

/** An input of a scenario, for a person: what it is, what it begins with, and what is allowed. */
export interface InputRow {
  /** With the objects around it: `standby.region`. */
  readonly name: string
  readonly type: string
  /** As JSON, or whether a launch has to give it; empty of an object, whose fields have their own. */
  readonly default: string
  readonly limits: string
  readonly about: string
}

/** The columns of the inputs; ABOUT only where an input has a description, since most packs have none. */
export const inputColumns = (rows: ReadonlyArray<InputRow>): ReadonlyArray<Column<InputRow>> => {
  const isDescribed = rows.some(({ about }) => about !== "")
  const about: Column<InputRow> = { title: "ABOUT", text: (row) => row.about, elastic: true }
  return [
    { title: "INPUT", text: ({ name }) => name },
    { title: "TYPE", text: ({ type }) => type },
    { title: "DEFAULT", text: (row) => row.default },
    { title: "LIMITS", text: ({ limits }) => limits, elastic: !isDescribed },
    ...(isDescribed ? [about] : [])
  ]
}

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => Predicate.isObject(value) && !Array.isArray(value)
const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)
const json = (value: unknown): string => jsonText(value)

/** Objects inside objects are described so deep; deeper ones are of the schema in `--json`. */
const MOST_DEPTH = 8

/** The inputs of a JSON Schema, each with those inside it; `defaults` are of the schema and the template. */
export const inputRows = (schema: Schema.JsonObject, defaults: Schema.JsonObject): ReadonlyArray<InputRow> =>
  rowsBelow(schema, defaults, "", 0)

const rowsBelow = (schema: Node, defaults: unknown, above: string, depth: number): ReadonlyArray<InputRow> => {
  const { properties, required } = schema
  if (!isNode(properties) || depth > MOST_DEPTH) return []
  const needed = new Set(isList(required) ? required : [])
  const known = isNode(defaults) ? defaults : {}
  return Object.entries(properties).flatMap(([key, value]) => {
    const node = isNode(value) ? value : {}
    const name = above === "" ? key : `${above}.${key}`
    const given = Object.hasOwn(known, key) ? known[key] : node["default"]
    const row: InputRow = {
      name,
      type: typeOf(node),
      default: isNode(node["properties"])
        ? ""
        : given !== undefined
          ? json(given)
          : needed.has(key)
            ? "required"
            : "optional",
      limits: limitsOf(node),
      about: [node["title"], node["description"]].filter(Predicate.isString).join(": ")
    }
    return [row, ...rowsBelow(node, given, name, depth + 1)]
  })
}

const typeOf = (node: Node): string => {
  const { const: only, enum: values, type } = node
  if (only !== undefined) return json(only)
  if (isList(values)) return values.map((value) => (Predicate.isString(value) ? value : json(value))).join(" | ")
  const names = isList(type) ? type : [type]
  const found = names.filter(Predicate.isString).map((name) => (name === "array" ? listOf(node["items"]) : name))
  if (found.length > 0) return found.join(" | ")
  const forms = [node["anyOf"], node["oneOf"]].find(isList)
  return forms === undefined ? "any" : forms.map((form) => typeOf(isNode(form) ? form : {})).join(" | ")
}

const listOf = (items: unknown): string => (isNode(items) ? `list of ${typeOf(items)}` : "list")

/** The keywords of JSON Schema that limit a value, in words. */
const LIMITS: ReadonlyArray<readonly [keyword: string, words: (value: string) => string]> = [
  ["minimum", (value) => `>= ${value}`],
  ["exclusiveMinimum", (value) => `> ${value}`],
  ["maximum", (value) => `<= ${value}`],
  ["exclusiveMaximum", (value) => `< ${value}`],
  ["multipleOf", (value) => `multiple of ${value}`],
  ["minLength", (value) => `length >= ${value}`],
  ["maxLength", (value) => `length <= ${value}`],
  ["minItems", (value) => `entries >= ${value}`],
  ["maxItems", (value) => `entries <= ${value}`],
  ["uniqueItems", () => "no entry twice"],
  ["format", (value) => value],
  ["pattern", (value) => `matches ${value}`]
]

const limitsOf = (node: Node): string =>
  LIMITS.flatMap(([keyword, words]) => {
    const value = node[keyword]
    return value === undefined || value === false ? [] : [words(Predicate.isString(value) ? value : json(value))]
  }).join(", ")
