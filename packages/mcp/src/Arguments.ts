import { meantName } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { InvalidInput, type ToolSpec } from "./ToolSpec.ts"

/** The arguments of a call as a schema of the tool takes them (docs/reference/mcp.md#arguments). */

/** The parts of a JSON Schema that decide which members an object has. */
interface Shape {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: unknown
  readonly items?: Shape
  readonly anyOf?: ReadonlyArray<Shape>
  readonly enum?: ReadonlyArray<unknown>
  readonly $ref?: string
}

const Shape: Schema.Codec<Shape> = Schema.Struct({
  type: Schema.optionalKey(Schema.Unknown),
  properties: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.suspend(() => Shape)
    )
  ),
  required: Schema.optionalKey(Schema.Array(Schema.String)),
  additionalProperties: Schema.optionalKey(Schema.Unknown),
  items: Schema.optionalKey(Schema.suspend(() => Shape)),
  anyOf: Schema.optionalKey(Schema.Array(Schema.suspend(() => Shape))),
  enum: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  $ref: Schema.optionalKey(Schema.String)
})
const decodeShape = Schema.decodeUnknownSync(Shape)
const decodeShapes = Schema.decodeUnknownSync(Schema.Record(Schema.String, Shape))

/** The JSON Schema of an input, which allows no other members, and its definitions. */
export const inputDocument = (schema: ToolSpec["input"]) => {
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  // A struct without fields is any value.
  return Object.keys(schema.fields).length > 0
    ? document
    : { ...document, schema: { type: "object", properties: {}, additionalProperties: false } }
}

/** Unknown names that one error says, and characters of each. */
const MAX_NAMES = 5
const MAX_NAME = 60

const said = (name: string) => JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name)

/** What is wrong with the names: each unknown one, the name that it may be a slip of, and the known ones. */
export const unknownNames = (
  unknown: ReadonlyArray<string>,
  known: ReadonlyArray<string>,
  { at = "", kind = "argument" }: { readonly at?: string; readonly kind?: string } = {}
): string => {
  const names = unknown.slice(0, MAX_NAMES).map((name) => {
    const meant = meantName(name, known)
    return `${said(`${at}${name}`)}${meant === undefined ? "" : ` (did you mean ${at}${meant}?)`}`
  })
  const more = unknown.length - names.length
  const all = more > 0 ? [...names, `${more} more`] : names
  return (
    `unknown ${kind}${unknown.length === 1 ? "" : "s"} ${all.join(", ")}; ` +
    (known.length === 0 ? `it takes no ${kind}s` : `known: ${known.map((name) => `${at}${name}`).join(", ")}`)
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface Read {
  readonly value: unknown
  readonly problems: ReadonlyArray<string>
}

/**
 * Reads arguments by the schema of a tool: null for an optional member is absent, and a member that the schema does not
 * name is an error with the known names, at every depth. The values themselves are not checked.
 */
export const argumentsReader = (schema: ToolSpec["input"]) => {
  const { definitions, schema: root } = inputDocument(schema)
  const shapes = decodeShapes(definitions)
  const resolved = (shape: Shape): Shape => {
    const of = shape.$ref === undefined ? undefined : shapes[shape.$ref.slice(shape.$ref.lastIndexOf("/") + 1)]
    return of === undefined ? shape : resolved(of)
  }
  const takesNull = (given: Shape): boolean => {
    const shape = resolved(given)
    if (shape.anyOf !== undefined) return shape.anyOf.some(takesNull)
    return shape.enum === undefined ? shape.type === undefined || shape.type === "null" : shape.enum.includes(null)
  }

  const read = (given: Shape, value: unknown, at: string): Read => {
    const shape = resolved(given)
    if (Array.isArray(value) && shape.items !== undefined) {
      const { items } = shape
      const each = value.map((item, index) => read(items, item, `${at}${index}.`))
      return { value: each.map((one) => one.value), problems: each.flatMap(({ problems }) => problems) }
    }
    if (!isObject(value) || shape.additionalProperties !== false) return { value, problems: [] }
    const { properties = {}, required = [] } = shape
    const known = Object.keys(properties)
    const unknown: Array<string> = []
    const problems: Array<string> = []
    const members: Array<readonly [string, unknown]> = []
    for (const [name, member] of Object.entries(value)) {
      const of = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (of === undefined) unknown.push(name)
      else if (member !== null || required.includes(name) || takesNull(of)) {
        const inner = read(of, member, `${at}${name}.`)
        members.push([name, inner.value])
        problems.push(...inner.problems)
      }
    }
    if (unknown.length > 0) problems.unshift(unknownNames(unknown, known, { at }))
    return { value: Object.fromEntries(members), problems }
  }

  const shape = decodeShape(root)
  return (input: unknown): Effect.Effect<unknown, InvalidInput> => {
    const { problems, value } = read(shape, input ?? {}, "")
    if (problems.length === 0) return Effect.succeed(value)
    const more = problems.length - MAX_NAMES
    const shown = [...problems.slice(0, MAX_NAMES), ...(more > 0 ? [`${more} more`] : [])]
    return Effect.fail(new InvalidInput({ message: shown.join("; ") }))
  }
}
