import type * as PgClient from "@effect/sql-pg/PgClient"
import { type Comparison, type Query, type QueryValue, relativeSeconds } from "@runplane/domain"
import type { Fragment } from "effect/sql/Statement"

/**
 * How the values of a column are compared. `folded` ignores case (docs/reference/search.md#folding), `label` is cut at
 * `MAX_LABEL` characters, `part` is a folded text that contains the value, `among` is a list of texts with the value in
 * it, and `value` is the name of a row with the
 * columns `number`, `flag` and `category`, one of which has the value.
 */
export type ColumnType =
  | "text"
  | "folded"
  | "label"
  | "part"
  | "uuid"
  | "numeric"
  | "integer"
  | "time"
  | "flag"
  | "among"
  | "value"

/** A LIKE pattern for texts that contain this one, with its `%`, `_` and `\` escaped. */
export const partOf = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`

/** Characters of a value in `run_labels` (`labels_of` in `migrations/`). */
const MAX_LABEL = 400

/** Where the values of a field are. */
export interface QueryColumn {
  readonly type: ColumnType
  /** The condition on a row whose value passes the test: of its column, or in a table beside it. */
  readonly where: (test: (value: Fragment) => Fragment) => Fragment
  /** A value as the column has it; as in the query unless said. */
  readonly stored?: (value: string) => string
  /** The condition of `has:`; by default that there is a value. */
  readonly has?: (value: Fragment) => Fragment
}

/** The columns of a resource that a query over it reads. */
export interface QueryMeaning {
  readonly column: (field: string, path: string) => QueryColumn
  /** A bare word. */
  readonly search: (text: string) => Fragment
}

/**
 * The condition of a query (docs/reference/search.md#query). Names become columns of this file and values become
 * parameters, so the statement has no text of the query. A row without a value does not match a condition on it, and
 * matches the exclusion of that condition.
 */
export const conditionOf = (sql: PgClient.PgClient, query: Query, meaning: QueryMeaning): Fragment => {
  const of = (part: Query): Fragment => {
    switch (part.kind) {
      case "and":
        return sql.and(part.of.map(of))
      case "or":
        return sql.or(part.of.map(of))
      case "not":
        return sql`(${of(part.of)}) IS NOT TRUE`
      case "search":
        return meaning.search(part.text)
      default: {
        const column = meaning.column(part.field, part.path ?? "")
        return column.where((value) => leaf(column, storedPart(column, part), value))
      }
    }
  }

  const leaf = (column: QueryColumn, part: OnField, value: Fragment): Fragment => {
    switch (part.kind) {
      case "has":
        return column.has?.(value) ?? sql`${value} IS NOT NULL`
      case "compare":
        return compare(column.type, part.op, value, part.value)
      case "in":
        return oneOf(column.type, value, part.values)
      case "range":
        return sql.and([
          ...(part.from === undefined ? [] : [compare(column.type, "gte", value, part.from)]),
          ...(part.to === undefined ? [] : [compare(column.type, "lte", value, part.to)])
        ])
    }
  }

  const compare = (type: ColumnType, op: Comparison, value: Fragment, wanted: QueryValue): Fragment => {
    switch (type) {
      case "text":
        return sql`${value} = ${String(wanted)}`
      case "folded":
        // The second condition follows from the first; it shows the planner that a partial index is enough.
        return sql`(fold_text(${value}) = fold_text(${String(wanted)}::text) AND ${value} IS NOT NULL)`
      case "label":
        return sql`${value} = left(${String(wanted)}::text, ${MAX_LABEL})`
      case "part":
        return sql`${value} LIKE fold_text(${partOf(String(wanted))}::text)`
      case "uuid":
        return sql`${value} = ${String(wanted)}::uuid`
      case "among":
        return sql`${value} @> ${[String(wanted)]}::text[]`
      case "flag":
        return wanted === true ? sql`${value}` : sql`NOT ${value}`
      case "numeric":
        return sql`${value} ${sign[op]} ${String(wanted)}::numeric`
      case "integer": {
        const bound = wholeBound(op, Number(wanted))
        return bound === undefined ? sql`false` : sql`${value} ${sign[bound.op]} ${bound.value}`
      }
      case "time":
        return sql`${value} ${sign[op]} ${timeAt(wanted)}`
      case "value":
        if (typeof wanted === "number") return sql`${value}.number ${sign[op]} ${String(wanted)}::float8`
        if (typeof wanted === "boolean") return wanted ? sql`${value}.flag` : sql`NOT ${value}.flag`
        return sql`${value}.category = ${wanted}`
    }
  }

  const timeAt = (wanted: QueryValue): Fragment => {
    const seconds = relativeSeconds(wanted)
    return seconds === undefined
      ? sql`${String(wanted)}::timestamptz`
      : sql`(now() + ${String(seconds)}::float8 * interval '1 second')`
  }

  const oneOf = (type: ColumnType, value: Fragment, wanted: ReadonlyArray<QueryValue>): Fragment => {
    switch (type) {
      case "text":
        return sql`${value} = ANY(${wanted.map(String)}::text[])`
      case "uuid":
        return sql`${value} = ANY(${wanted.map(String)}::text[]::uuid[])`
      case "among":
        return sql`${value} && ${wanted.map(String)}::text[]`
      default:
        return sql.or(wanted.map((each) => compare(type, "eq", value, each)))
    }
  }

  const sign: Readonly<Record<Comparison, Fragment>> = {
    eq: sql`=`,
    gt: sql`>`,
    gte: sql`>=`,
    lt: sql`<`,
    lte: sql`<=`
  }
  return of(query)
}

type OnField = Extract<Query, { readonly field: string }>

/** The condition with its values as the column has them. */
const storedPart = ({ stored }: QueryColumn, part: OnField): OnField => {
  if (stored === undefined) return part
  if (part.kind === "compare") return { ...part, value: stored(String(part.value)) }
  return part.kind === "in" ? { ...part, values: part.values.map((value) => stored(String(value))) } : part
}

const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** The equal comparison of whole numbers in the range of bigint; undefined when no value matches. */
const wholeBound = (op: Comparison, wanted: number) => {
  if (op === "eq" && !Number.isInteger(wanted)) return undefined
  const isUp = op === "gte" || op === "lt"
  const whole = BigInt(isUp ? Math.ceil(wanted) : Math.floor(wanted))
  if (whole > GREATEST) return op === "lt" || op === "lte" ? { op: "lte" as const, value: GREATEST } : undefined
  if (whole < LEAST) return op === "gt" || op === "gte" ? { op: "gte" as const, value: LEAST } : undefined
  return { op, value: whole }
}
