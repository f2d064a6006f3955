import type * as Context from "effect/Context"
import { OpenApi } from "effect/http-api"
import type { JsonSchema } from "../validation/JsonSchema.ts"
import type { ObjectRule } from "../validation/ObjectRule.ts"

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
              content: { "application/json": { schema: { title: body.name, ...body.rule.jsonSchema } } },
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

/** Moves the bodies that `requestDescription` named among the components, where generators of clients look for names. */
export const hoistNamedBodies = (document: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  const named: OpenApi.OpenAPISpec["components"]["schemas"] = {}
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => {
          const schema = operation?.requestBody?.content["application/json"]?.schema
          const title = schema?.["title"]
          if (schema === undefined || typeof title !== "string") return [method, operation]
          named[title] = schema
          const content = { "application/json": { schema: { $ref: `#/components/schemas/${title}` } } }
          return [method, { ...operation, requestBody: { ...operation?.requestBody, content } }]
        })
      )
    ])
  )
  const schemas = { ...document.components.schemas, ...named }
  return { ...document, paths, components: { ...document.components, schemas } }
}
