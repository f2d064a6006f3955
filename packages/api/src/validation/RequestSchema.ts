import { cleanJson, isDeeperThan, MAX_JSON_DEPTH, type Unstorable, unstorableIn } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { maxItems } from "./Checks.ts"
import { sentence } from "./Violations.ts"

/**
 * Payload and query schemas of endpoints: plain Schemas of what the handler gets, read from what callers send. Every
 * broken rule is found, and `violationText` renders it. Clients send values as they are: the service is the judge of
 * them.
 */

/** Documents show `schema` with this description, whatever else is accepted. */
export const sentAs = (schema: Schema.Constraint, description?: string) =>
  Schema.Any.check(
    Schema.makeFilter(() => true, {
      description,
      representation: { id: "runplane/api/sentAs", payload: null, schemas: [SchemaAST.toEncoded(schema.ast)] },
      toJsonSchema: ({ schemas: [shown] }) => shown ?? {}
    })
  )

/** A codec without needs, of an object with fields. */
type Fields = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

export interface BodyOptions {
  /** `reject` reports every unknown key, at every level; `drop` leaves them out of the decoded value. */
  readonly unknownKeys: "reject" | "drop"
}

/**
 * The schema of a JSON body. An empty body and an array are checked as `{}`, a null in place of an optional value as
 * its absence; a bare string, number, boolean or null is refused like a syntax error, and so is a text that the
 * database cannot hold (docs/reference/http.md#bodies).
 */
export const bodySchema = <F extends Fields>(body: Schema.Struct<F>, { unknownKeys }: BodyOptions) => {
  const decode = SchemaParser.decodeUnknownEffect(body)
  const encoded = SchemaAST.toEncoded(body.ast)
  const options = { ...everyIssue, onExcessProperty: unknownKeys === "reject" ? "error" : "ignore" } as const
  return sentAs(unknownKeys === "reject" ? body : open(body)).pipe(
    Schema.decodeTo(
      accepted<(typeof body)["Type"]>(),
      SchemaTransformation.transformEffect({
        decode: (given: unknown) => {
          if (isScalar(given)) return Effect.fail(sentence(scalarText(given)))
          if (isDeeperThan(given, MAX_JSON_DEPTH)) return Effect.fail(tooDeep(encoded))
          const unstorable = unstorableIn(given)
          if (unstorable !== undefined) return Effect.fail(unstorableIssue(encoded, unstorable))
          return decode(withoutNulls(encoded, isRecord(given) ? cleanJson(given) : {}), options)
        },
        encode: (value) => Effect.succeed(value)
      })
    )
  )
}

const everyIssue = { errors: "all", reportInput: true } as const

/** The object as documents show it when unknown keys are dropped: they are allowed. */
export const open = <F extends Fields>(body: Schema.Struct<F>) =>
  Schema.StructWithRest(body, [Schema.Record(Schema.String, Schema.Any)]).annotate({ ...body.ast.annotations })

const tooDeep = (ast: SchemaAST.AST) =>
  new SchemaIssue.Composite(ast, [
    new SchemaIssue.InvalidValue({ message: `body must not be nested deeper than ${MAX_JSON_DEPTH} levels` })
  ])

const unstorableIssue = (ast: SchemaAST.AST, unstorable: Unstorable) =>
  new SchemaIssue.Composite(ast, [new SchemaIssue.InvalidValue({ message: unstorableText(unstorable) })])

const MAX_NAMED_PATH = 200

/** `session.metadata.note must not contain the character U+0000`. */
const unstorableText = ({ path, what }: Unstorable) => {
  const name = path.join(".")
  const shown = name.length > MAX_NAMED_PATH ? `${name.slice(0, MAX_NAMED_PATH).toWellFormed()}...` : name
  return `${shown === "" ? "a key" : shown} must not contain ${what}`
}

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isScalar = (body: unknown) => body !== undefined && (typeof body !== "object" || body === null)

const MAX_QUOTED = 40

/** In the words of the JSON parser, which has nothing against such a text. */
const scalarText = (body: unknown) => {
  const text = JSON.stringify(body)
  const quoted = text.length > MAX_QUOTED ? `"${text.slice(0, MAX_QUOTED)}"...` : `"${text}"`
  return `Unexpected token '${text.charAt(0)}', ${quoted} is not valid JSON`
}

/** Annotates an optional field that refuses null; in other fields null means absent. */
export const REFUSES_NULL = "runplane/api/refusesNull"

/**
 * The value without the nulls of absent fields, and with at most one item too many in an array.
 */
const withoutNulls = (ast: SchemaAST.AST, value: unknown): unknown => {
  if (SchemaAST.isArrays(ast) && Array.isArray(value)) {
    const [item] = ast.rest
    const items = value.slice(0, maxItems(ast) + 1)
    return item === undefined ? items : items.map((inner) => withoutNulls(item, inner))
  }
  if (!SchemaAST.isObjects(ast) || !isRecord(value)) return value
  const fields = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const field = fields.get(key)
      if (field === undefined) return [[key, inner]]
      return inner === null && SchemaAST.isOptional(field) && field.annotations?.[REFUSES_NULL] !== true
        ? []
        : [[key, withoutNulls(field, inner)]]
    })
  )
}

// The value was validated before this schema sees a value.
const accepted = <A>() => Schema.declare<A>((_value): _value is A => true)

/** Marks the schema of a query parameter that must be given. */
export const REQUIRED_PARAMETER = "x-required"

const sentRequired = (schema: Schema.Constraint) =>
  Schema.Any.check(
    Schema.makeFilter(() => true, {
      representation: { id: "runplane/api/sentRequired", payload: null, schemas: [SchemaAST.toEncoded(schema.ast)] },
      toJsonSchema: ({ schemas: [shown] }) => ({ ...shown, [REQUIRED_PARAMETER]: true })
    })
  )

/**
 * The schema of a query string: unknown keys are ignored, empty values count as absent. Numbers and switches are read
 * from their texts; the text `true` is true, every other one is false. A repeated key gives its schema an array.
 */
export const querySchema = <F extends Fields>(fields: F) => {
  const query = Schema.Struct(fields)
  const decode = SchemaParser.decodeUnknownEffect(query)
  const kinds = new Map(query.ast.propertySignatures.map(({ name, type }) => [name, SchemaAST.toEncoded(type)._tag]))
  const read = (key: string, value: unknown) => {
    const kind = kinds.get(key)
    if (kind === "Boolean") return value === "true"
    const number = kind === "Number" && typeof value === "string" && DECIMAL.test(value) ? Number(value) : Number.NaN
    // What is not a number breaks every rule about numbers, which NaN would not.
    return Number.isNaN(number) ? value : number
  }
  const shown = Object.entries(fields).map(([key, field]) => {
    const isOptional = SchemaAST.isOptional(SchemaAST.toEncoded(field.ast))
    return [key, Schema.optionalKey(isOptional ? sentAs(field) : sentRequired(field))] as const
  })
  return Schema.Struct(Object.fromEntries(shown)).pipe(
    Schema.decodeTo(
      accepted<(typeof query)["Type"]>(),
      SchemaTransformation.transformEffect({
        decode: (given: object) => {
          const unstorable = unstorableIn(given)
          if (unstorable !== undefined) return Effect.fail(unstorableIssue(query.ast, unstorable))
          const texts = Object.entries(cleanJson(given) ?? {}).filter(([, value]) => value !== "")
          return decode(Object.fromEntries(texts.map(([key, value]) => [key, read(key, value)])), everyIssue)
        },
        encode: (value) => Effect.succeed(encodeQuery(value))
      })
    )
  )
}

/** Numbers as JSON writes them, neither `0x10` nor ` 7`; and infinity, which is refused as no finite number. */
const DECIMAL = /^-?(Infinity|(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?)$/i

const encodeQuery = (value: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      item === undefined ? [] : [[key, Array.isArray(item) ? item.join(",") : String(item)]]
    )
  )
