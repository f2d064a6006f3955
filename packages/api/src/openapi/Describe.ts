import type * as Context from "effect/Context"
import { OpenApi } from "effect/http-api"
import type { JsonSchema } from "../validation/JsonSchema.ts"
import type { ObjectRule } from "../validation/ObjectRule.ts"

export const summary = (text: string): Context.Context<never> => OpenApi.annotations({ summary: text })

export interface RequestDescription {
  readonly summary: string
  readonly body?: ObjectRule<unknown>
  readonly query?: ObjectRule<unknown>
}

/**
 * Describes an endpoint whose body or query is decoded by rules: the fields, types, ranges and defaults of the rules
 * replace what the generator can say about their schemas.
 */
export const requestDescription = (options: RequestDescription): Context.Context<never> =>
  OpenApi.annotations({
    summary: options.summary,
    transform: (operation) => ({
      ...operation,
      ...(options.query === undefined
        ? {}
        : { parameters: [...parametersOf(operation), ...queryParameters(options.query.jsonSchema)] }),
      ...(options.body === undefined
        ? {}
        : {
            requestBody: {
              content: { "application/json": { schema: options.body.jsonSchema } },
              required: (options.body.jsonSchema.required ?? []).length > 0
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
