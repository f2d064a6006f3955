import { isRecord, listAt, type Shape, shapeOf, without } from "./Shape.ts"

/** The values under these keys are data, not description. */
const DATA = ["default", "enum", "example", "examples"]

/**
 * Says what a reader wants to know: an integer has a least value only where one is meant, a choice of one is that one,
 * other keys of an object are allowed without saying so, and the default of an object is that of its fields. A
 * description ends with a full stop, which declarations leave out.
 */
export const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied)
  if (!isRecord(value)) return value
  const parts: Shape = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, DATA.includes(key) ? inner : tidied(inner)])
  )
  return closed(boolean(unwrapped(unbounded(opened(fieldwise(parts))))))
}

const closed = (part: Shape): Shape => {
  const { description } = part
  return typeof description === "string" && /[\p{L}\p{N})`]$/u.test(description)
    ? { ...part, description: `${description}.` }
    : part
}

/** Generators write the default of a whole object as code that does not compile. */
const fieldwise = (schema: Shape): Shape =>
  schema["type"] === "object" && isRecord(schema["default"]) ? without(schema, "default") : schema

/** A flag that is always true. Generators for Java write a choice of it as code that does not compile. */
const boolean = (schema: Shape): Shape =>
  schema["type"] === "boolean" && JSON.stringify(schema["enum"]) === "[true]"
    ? { ...without(schema, "enum"), not: { enum: [false] } }
    : schema

const opened = (schema: Shape): Shape => {
  const [other, ...more] = listAt(schema, "allOf")
  const isOpen = more.length === 0 && JSON.stringify(shapeOf(other)["additionalProperties"]) === "{}"
  return isOpen ? without(schema, "allOf") : schema
}

/**
 * A double holds integers exactly up to 2^53, on both sides; callers send too many digits, but -2^53 is never meant.
 */
const unbounded = (schema: Shape): Shape =>
  schema["type"] === "integer" && schema["minimum"] === Number.MIN_SAFE_INTEGER ? without(schema, "minimum") : schema

const unwrapped = (schema: Shape): Shape => {
  const choices = schema["anyOf"]
  if (!Array.isArray(choices) || choices.length !== 1 || !isRecord(choices[0])) return schema
  return { ...choices[0], ...without(schema, "anyOf") }
}
