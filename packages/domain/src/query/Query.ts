import * as Data from "effect/Data"

/** What values of a field are. A `value` is a number, a flag or a text; in quotes it is always a text. */
export type FieldType = "text" | "keyword" | "number" | "time" | "flag" | "uuid" | "value"

/** A field that a query may name. */
export interface QueryField {
  readonly name: string
  readonly type: FieldType
  /** The only values of a keyword, where they are known. */
  readonly values?: ReadonlyArray<string>
  /** Whether any name may follow after a dot: `metadata.team`. */
  readonly dotted?: boolean
  /** Whether `has:` of a dotted field may leave the name out, and then finds any name: `has:mark`. */
  readonly hasAny?: boolean
}

/** The fields of one resource. */
export type QueryFields = ReadonlyArray<QueryField>

/**
 * A value as its field's type reads it; a time is ISO text in UTC or relative (`relativeSeconds`), a UUID is in lower
 * case.
 */
export type QueryValue = string | number | boolean

export type Comparison = "eq" | "gt" | "gte" | "lt" | "lte"

/** A part of the query: offsets of UTF-16 units, `end` excluded. */
export interface Span {
  readonly start: number
  readonly end: number
}

interface OnField extends Span {
  readonly field: string
  /** The name after the dot of a dotted field. */
  readonly path?: string
}

/** What a query means. An `and` of nothing matches everything. */
export type Query =
  | { readonly kind: "and" | "or"; readonly of: ReadonlyArray<Query> }
  | { readonly kind: "not"; readonly of: Query }
  | ({ readonly kind: "search"; readonly text: string } & Span)
  | ({ readonly kind: "has" } & OnField)
  | ({ readonly kind: "compare"; readonly op: Comparison; readonly value: QueryValue } & OnField)
  | ({ readonly kind: "in"; readonly values: ReadonlyArray<QueryValue> } & OnField)
  /** Both ends included; one of them may be open. */
  | ({ readonly kind: "range"; readonly from: QueryValue | undefined; readonly to: QueryValue | undefined } & OnField)

/** The query is invalid at `position`, counted from 0; `expected` lists what is valid there. */
export class QueryRefused extends Data.TaggedError("QueryRefused")<{
  readonly why: string
  readonly position: number
  readonly expected: ReadonlyArray<string>
}> {
  override get message(): string {
    const { expected, position, why } = this
    const rest = expected.length === 0 ? "" : `; expected ${expected.join(", ")}`
    return `at ${position + 1}: ${why}${rest}`
  }
}

/** Characters of a query. */
export const MAX_QUERY_LENGTH = 2_000
/** Depth of nested parentheses. */
export const MAX_QUERY_DEPTH = 20
/** Conditions of a query; the values of a list count each. */
export const MAX_QUERY_TERMS = 100
