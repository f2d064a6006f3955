import type { JsonSchema } from "./JsonSchema.ts"

/** Where a value sits: the key it is named by in messages, and the path before it, dots included (`session.participants.0.`). */
export interface Place {
  readonly key: string
  readonly prefix: string
}

/** A value that obeyed its rule. Undefined in place of this means: at least one message was reported. */
export interface Checked<A> {
  readonly value: A
}

/**
 * What one field of a body or a query must be. `check` gives the decoded value, or reports every violated constraint
 * as one text (the forms of http-details section 3.3); `jsonSchema` is the same rule as the OpenAPI document shows it.
 */
export interface Rule<out A> {
  readonly jsonSchema: JsonSchema
  readonly optional: boolean
  readonly check: (value: unknown, place: Place, report: (message: string) => void) => Checked<A> | undefined
}

/** A rule whose key may be absent; a null counts as absent, and the decoded object then lacks the key. */
export interface OptionalRule<out A> extends Rule<A> {
  readonly optional: true
}

/** A rule that fills in a value when the key is absent. */
export interface DefaultedRule<out A> extends Rule<A> {
  readonly defaultValue: () => A
}

export type RuleValue<R> = R extends Rule<infer A> ? A : never

export const valid = <A>(value: A): Checked<A> => ({ value })

export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const optional = <A>(rule: Rule<A>): OptionalRule<A> => ({ ...rule, optional: true })

/** The same rule with a description in the OpenAPI document. */
export const described = <R extends Rule<unknown>>(rule: R, description: string, example?: unknown): R => ({
  ...rule,
  jsonSchema: {
    ...rule.jsonSchema,
    description,
    ...(example === undefined ? {} : { examples: [example] })
  }
})

export const withDefault = <A>(rule: Rule<A>, defaultValue: A): DefaultedRule<A> => ({
  ...rule,
  optional: false,
  jsonSchema: { ...rule.jsonSchema, default: defaultValue },
  defaultValue: () => defaultValue,
  check: (value, place, report) => (isAbsent(value) ? valid(defaultValue) : rule.check(value, place, report))
})
