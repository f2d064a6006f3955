import type * as Context from "effect/Context"
import * as OpenApi from "effect/http-api/OpenApi"
import type { JsonSchema } from "../validation/JsonSchema.ts"
import type { ObjectRule } from "../validation/ObjectRule.ts"
import { isRecord } from "../validation/Rule.ts"

/** Marks a schema that `hoistNamedBodies` gives a name; not in the finished document. */
const COMPONENT_NAME = "x-component-name"

export const summary = (text: string): Context.Context<never> => OpenApi.annotations({ summary: text })

export interface RequestDescription {
  readonly summary: string
  /** The rule of the body, and the name of its schema among the components. */
  readonly body?: { readonly name: string; readonly rule: ObjectRule<unknown> }
  readonly query?: ObjectRule<unknown>
}

/**
 * Describes an endpoint whose body or query is decoded by rules: the fields, types, ranges and defaults of the rules
 * replace what the generator can say about their schemas.
 */
export const requestDescription = ({ summary, body, query }: RequestDescription): Context.Context<never> =>
  OpenApi.annotations({
    summary,
    transform: (operation) => ({
      ...operation,
      ...(query === undefined
        ? {}
        : { parameters: [...parametersOf(operation), ...queryParameters(query.jsonSchema)] }),
      ...(body === undefined
        ? {}
        : {
            requestBody: {
              content: { "application/json": { schema: { [COMPONENT_NAME]: body.name, ...body.rule.jsonSchema } } },
              required: (body.rule.jsonSchema.required ?? []).length > 0
            }
          })
    })
  })

const parametersOf = (operation: Readonly<Record<string, unknown>>): ReadonlyArray<unknown> =>
  Array.isArray(operation["parameters"]) ? operation["parameters"] : []

const queryParameters = (schema: JsonSchema): ReadonlyArray<unknown> =>
  Object.entries(schema.properties ?? {}).map(([name, { description, ...property }]) => ({
    name,
    in: "query",
    required: schema.required?.includes(name) ?? false,
    ...(description === undefined ? {} : { description }),
    schema: property
  }))

type Document = Readonly<Record<string, unknown>>

/** Moves the bodies that `requestDescription` named among the components, where generators of clients look for names. */
export const hoistNamedBodies = (document: Document): Record<string, unknown> => {
  const named: Record<string, unknown> = {}
  const referring = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(referring)
    if (!isRecord(value)) return value
    const { [COMPONENT_NAME]: name, ...schema } = value
    if (typeof name !== "string") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, referring(inner)]))
    }
    named[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }
  const paths = referring(document["paths"])
  const components = isRecord(document["components"]) ? document["components"] : {}
  const schemas = isRecord(components["schemas"]) ? components["schemas"] : {}
  return { ...document, paths, components: { ...components, schemas: { ...schemas, ...named } } }
}
