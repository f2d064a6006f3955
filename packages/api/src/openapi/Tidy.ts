import { isRecord } from "../validation/Rule.ts"
import { COMPONENT_NAME } from "./Describe.ts"
import { partAt, type Shape, schemaRef, without } from "./Shape.ts"

/** Moves the bodies that `operation` named among the components, where generators of clients look for names. */
export const hoistNamedBodies = (document: Shape): Shape => {
  const named: Record<string, unknown> = {}
  const referring = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(referring)
    if (!isRecord(value)) return value
    const { [COMPONENT_NAME]: name, ...schema } = value
    if (typeof name !== "string") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, referring(inner)]))
    }
    named[name] = schema
    return schemaRef(name)
  }
  const paths = referring(document["paths"])
  const schemas = { ...partAt(document, "components", "schemas"), ...named }
  return { ...document, paths, components: { ...partAt(document, "components"), schemas } }
}

/** What stands under these keys is data, not description. */
const DATA = ["default", "enum", "example", "examples"]

/**
 * Says what a reader wants to know: an integer is not bounded because a double holds no more, and a choice of one is that one. A
 * description ends with a full stop, which declarations leave out.
 */
export const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied)
  if (!isRecord(value)) return value
  const parts: Shape = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, DATA.includes(key) ? inner : tidied(inner)])
  )
  return closed(unwrapped(unbounded(parts)))
}

const closed = (part: Shape): Shape => {
  const { description } = part
  return typeof description === "string" && /[\p{L}\p{N})`]$/u.test(description)
    ? { ...part, description: `${description}.` }
    : part
}

const unbounded = (schema: Shape): Shape =>
  schema["type"] === "integer" &&
  schema["minimum"] === Number.MIN_SAFE_INTEGER &&
  schema["maximum"] === Number.MAX_SAFE_INTEGER
    ? without(schema, "minimum", "maximum")
    : schema

const unwrapped = (schema: Shape): Shape => {
  const choices = schema["anyOf"]
  if (!Array.isArray(choices) || choices.length !== 1 || !isRecord(choices[0])) return schema
  return { ...choices[0], ...without(schema, "anyOf") }
}
