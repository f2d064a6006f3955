import type * as Context from "effect/Context"
import * as OpenApi from "effect/http-api/OpenApi"
import type { JsonSchema } from "../validation/JsonSchema.ts"
import type { ObjectRule } from "../validation/ObjectRule.ts"
import type { ControlPlaneAnswerName } from "./ControlPlaneAnswers.ts"
import type { LauncherAnswerName } from "./LauncherAnswers.ts"

/** Marks a schema that `hoistNamedBodies` gives a name; not in the finished document. */
export const COMPONENT_NAME = "x-component-name"

/** Names the failures of an operation for `errorResponses`; not in the finished document. */
export const FAILURES = "x-failures"

export interface OperationDescription {
  /** What clients call the operation: part of the contract, as its path is. */
  readonly id: string
  readonly summary: string
  readonly description: string
  /** The ways in which it can fail, but for those that follow from its form: key, budget, input, and faults of the service. */
  readonly failures?: ReadonlyArray<ControlPlaneAnswerName | LauncherAnswerName>
  /** The rule of the body, and the name of its schema among the components. */
  readonly body?: { readonly name: string; readonly description: string; readonly rule: ObjectRule<unknown> }
  readonly query?: ObjectRule<unknown>
  readonly deprecated?: boolean
}

/** The ways in which a call of the runtime can fail, for operations that make one (http-details section 3.2). */
export const runtimeFailures = [
  "RuntimeRefusedArgument",
  "RuntimeRefusedService",
  "RuntimeForbids",
  "RuntimeKnowsNoSuchThing",
  "RuntimeConflict",
  "RuntimeLimit",
  "RuntimeFault",
  "RuntimeLacksOperation",
  "RuntimeUnavailable",
  "CircuitBreakerOpen",
  "RuntimeTimeout"
] as const satisfies ReadonlyArray<ControlPlaneAnswerName>

/**
 * Describes an endpoint. Where its body or query is decoded by rules, the fields, types, ranges and defaults of the rules
 * replace what the generator can say about their schemas.
 */
export const operation = (text: OperationDescription): Context.Context<never> =>
  OpenApi.annotations({
    identifier: text.id,
    summary: text.summary,
    description: text.description,
    deprecated: text.deprecated,
    transform: (operation) => ({
      ...operation,
      [FAILURES]: text.failures ?? [],
      ...(text.query === undefined
        ? {}
        : { parameters: [...parametersOf(operation), ...queryParameters(text.query.jsonSchema)] }),
      ...(text.body === undefined ? {} : { requestBody: requestBody(text.body) })
    })
  })

/** Names the group of endpoints for readers. Groups of the same name stand under one heading, described by one of them. */
export const tag = (title: string, description?: string): Context.Context<never> =>
  OpenApi.annotations({ title, description })

const requestBody = ({ description, name, rule }: NonNullable<OperationDescription["body"]>) => ({
  content: { "application/json": { schema: { [COMPONENT_NAME]: name, ...rule.jsonSchema, description } } },
  required: (rule.jsonSchema.required ?? []).length > 0
})

const parametersOf = (operation: Readonly<Record<string, unknown>>): ReadonlyArray<unknown> =>
  Array.isArray(operation["parameters"]) ? operation["parameters"] : []

const queryParameters = (schema: JsonSchema): ReadonlyArray<unknown> =>
  Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: "query",
    required: schema.required?.includes(name) ?? false,
    schema: property
  }))
