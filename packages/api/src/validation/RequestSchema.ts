import { cleanJson, MAX_JSON_DEPTH } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { isTooDeep } from "./JsonDepth.ts"
import type { DecodedFields, Fields, ObjectRule } from "./ObjectRule.ts"
import { object } from "./ObjectRule.ts"
import type { DefaultedRule, RuleValue } from "./Rule.ts"
import { violation } from "./Violations.ts"

/**
 * Payload and query schemas of endpoints whose decoding is done by the rules of this folder, so that one declaration
 * gives the handler its value, the client its type, the caller all messages and the OpenAPI document its fields
 * (`requestDescription` hands the JSON Schema on).
 */

/**
 * The schema of a JSON body. An empty body and an array are checked as `{}`; a bare string, number, boolean or null is
 * refused like a syntax error. The decoded value is clean: no text in it that the database cannot hold.
 */
export const bodySchema = <A>(rule: ObjectRule<A>) =>
  Schema.Any.pipe(
    Schema.decodeTo(
      anyOf<A>(),
      SchemaTransformation.transformEffect<A, unknown>({
        decode: (body) => {
          if (isScalar(body)) return Effect.fail(violation(scalarText(body)))
          if (isTooDeep(body)) return Effect.fail(violation([TOO_DEEP]))
          return runRule(rule, cleanJson(body))
        },
        encode: (value) => Effect.succeed(value)
      })
    )
  )

const TOO_DEEP = `body must not be nested deeper than ${MAX_JSON_DEPTH} levels`

const isScalar = (body: unknown) => body !== undefined && (typeof body !== "object" || body === null)

const MAX_QUOTED = 40

/** In the words of the JSON parser, which has nothing against such a text. */
const scalarText = (body: unknown) => {
  const text = JSON.stringify(body)
  const quoted = text.length > MAX_QUOTED ? `"${text.slice(0, MAX_QUOTED)}"...` : `"${text}"`
  return `Unexpected token '${text.charAt(0)}', ${quoted} is not valid JSON`
}

type QueryText = Readonly<Record<string, string>>

type DefaultedKeys<F extends Fields> = { [K in keyof F]: F[K] extends DefaultedRule<unknown> ? K : never }[keyof F]

export interface QuerySchema<F extends Fields> {
  readonly schema: Schema.Codec<DecodedFields<F>, unknown>
  readonly rule: ObjectRule<DecodedFields<F>>
  /** The values of the keys that have defaults, for callers that only want to say what differs. */
  readonly defaults: { readonly [K in DefaultedKeys<F>]: RuleValue<F[K]> }
}

/** The schema of a query string: unknown keys are ignored, empty values count as absent. */
export const querySchema = <const F extends Fields>(fields: F): QuerySchema<F> => {
  const rule = object(fields, { unknownKeys: "drop" })
  const schema = Schema.Any.pipe(
    Schema.decodeTo(
      anyOf<DecodedFields<F>>(),
      SchemaTransformation.transformEffect<DecodedFields<F>, unknown>({
        decode: (query) => runRule(rule, withoutEmptyValues(cleanJson(query))),
        encode: (value) => Effect.succeed(encodeQuery(value))
      })
    )
  )
  const defaults = Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) => (isDefaulted(field) ? [[key, field.defaultValue()]] : []))
  )
  // Built from exactly the keys whose rules have a default.
  return { schema, rule, defaults: defaults as QuerySchema<F>["defaults"] }
}

const isDefaulted = (rule: object): rule is DefaultedRule<unknown> => "defaultValue" in rule

// The rules have decided before this schema sees a value.
const anyOf = <A>() => Schema.declare<A>((_value): _value is A => true)

const runRule = <A>(rule: ObjectRule<A>, value: unknown) => {
  const messages: Array<string> = []
  const checked = rule.checkRoot(value, (message) => messages.push(message))
  return checked === undefined ? Effect.fail(violation(messages)) : Effect.succeed(checked.value)
}

const withoutEmptyValues = (query: unknown): unknown =>
  typeof query === "object" && query !== null
    ? Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""))
    : {}

const encodeQuery = (value: object): QueryText =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      item === undefined ? [] : [[key, Array.isArray(item) ? item.join(",") : String(item)]]
    )
  )
