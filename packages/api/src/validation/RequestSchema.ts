import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { DecodedFields, Fields, ObjectRule } from "./ObjectRule.ts"
import { object } from "./ObjectRule.ts"
import type { DefaultedRule, RuleValue } from "./Rule.ts"
import { isTooDeep, MAX_JSON_DEPTH, storable } from "./StorableJson.ts"
import { violation } from "./Violations.ts"

/**
 * Payload and query schemas of endpoints whose decoding is done by the rules of this folder, so that one declaration
 * gives the handler its value, the client its type, the caller all messages and the OpenAPI document its fields
 * (`requestDescription` hands the JSON Schema on).
 */

/** The schema of a JSON body. An empty body, and one that is no object, are checked as `{}`. */
export const bodySchema = <A>(rule: ObjectRule<A>) =>
  Schema.Any.pipe(
    Schema.decodeTo(
      anyOf<A>(),
      SchemaTransformation.transformEffect<A, unknown>({
        decode: (body) => {
          if (isTooDeep(body))
            return Effect.fail(violation([`body must not be nested deeper than ${MAX_JSON_DEPTH} levels`]))
          return runRule(rule, storable(body))
        },
        encode: (value) => Effect.succeed(value)
      })
    )
  )

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
        decode: (query) => runRule(rule, withoutEmptyValues(storable(query))),
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
