import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"

/** The values of a column of each type. A timestamp is ISO-8601, JSON is text, bytes are `\x` and their hexadecimal. */
interface Values {
  readonly uuid: string
  readonly text: string
  readonly int: number
  readonly bigint: bigint | number
  readonly float8: number
  readonly bool: boolean
  readonly timestamptz: string
  readonly json: string
  readonly bytea: string
}

type ColumnType = keyof Values

/** An array goes to the server in this type, and is cast to that of the column. */
const SENT_AS: Readonly<Record<ColumnType, number>> = {
  uuid: PgTypes.OID.text,
  text: PgTypes.OID.text,
  int: PgTypes.OID.int4,
  bigint: PgTypes.OID.int8,
  float8: PgTypes.OID.float8,
  bool: PgTypes.OID.bool,
  timestamptz: PgTypes.OID.text,
  json: PgTypes.OID.text,
  bytea: PgTypes.OID.text
}

interface UnnestOptions {
  /** See `unseen` in `KeptPlans.ts`: for statements on a few keys whose one plan is to be kept. */
  readonly unseen?: boolean
  /** Adds the column `ordinal`: the position of the row, from 1. */
  readonly ordinal?: boolean
}

/**
 * Rows as a sub-select in parentheses. Each column of `columns` is one parameter, so the statement is the same for any
 * number of rows and is prepared once.
 */
export const unnestRows = <C extends Readonly<Record<string, ColumnType>>>(
  sql: SqlClient,
  rows: ReadonlyArray<{ readonly [K in keyof C]: Values[C[K]] | null }>,
  columns: C,
  { ordinal = false, unseen = false }: UnnestOptions = {}
): Statement.Fragment => {
  const arrays = Object.entries(columns).map(([name, type]) => {
    const values = rows.map((row) => sentValue(row[name], type))
    const array = Result.getOrThrow(PgTypes.array(values, SENT_AS[type]))
    const column = sql`${array}${sql.literal(SENT_AS[type] === PgTypes.OID.text ? `::text[]::${type}[]` : `::${type}[]`)}`
    return unseen ? sql`(SELECT ${column})` : column
  })
  const names = [...Object.keys(columns), ...(ordinal ? ["ordinal"] : [])].join(", ")
  return sql`(SELECT * FROM unnest(${Statement.join(", ", false)(arrays)})
             ${sql.literal(ordinal ? "WITH ORDINALITY" : "")} AS r (${sql.literal(names)}))`
}

const sentValue = (value: Values[ColumnType] | null | undefined, type: ColumnType) =>
  type === "bigint" && typeof value === "number" ? BigInt(value) : (value ?? null)
