import type * as PgClient from "@effect/sql-pg/PgClient"
import type { DescribedField } from "@runplane/api"
import type { Fragment } from "effect/sql/Statement"
import type { ColumnType, QueryColumn, QueryMeaning } from "./QueryConditions.ts"

/**
 * A field of a search that a feature adds. Clients and the parser read the declaration, which the API has once: name,
 * type, possible values, description, and whether a name follows after a dot (`vote.<agent>`).
 */
export interface SearchField {
  readonly field: DescribedField
  /** Where its values are; `path` is the name after the dot, empty without one. */
  readonly column: (sql: PgClient.PgClient, path: string) => QueryColumn
}

/** The fields that a feature adds to searches. */
export interface SearchFields {
  /** For a row of `runs` with the name `r`. */
  readonly runs?: ReadonlyArray<SearchField>
  /** For a row of `canonical_events` with the name `e`. */
  readonly events?: ReadonlyArray<SearchField>
}

/** The columns of a table that fields stand for one to one. */
export type PlainColumns = Readonly<Record<string, readonly [type: ColumnType, column: string]>>

export interface SearchParts {
  /** All fields that a query may name. */
  readonly declared: ReadonlyArray<DescribedField>
  /** The fields of the core that are columns. */
  readonly plain: PlainColumns
  /** The other fields of the core. */
  readonly others: Readonly<Record<string, (path: string) => QueryColumn>>
  /** The fields of features. */
  readonly added: ReadonlyArray<SearchField>
  readonly search: (text: string) => Fragment
}

/** The meaning of a search. Throws unless each declared field has one column, and each column its field. */
export const meaningOf = (
  sql: PgClient.PgClient,
  { added, declared, others, plain, search }: SearchParts
): QueryMeaning => {
  const columns = new Map<string, (path: string) => QueryColumn>()
  const add = (name: string, column: (path: string) => QueryColumn) => {
    if (columns.has(name)) throw new Error(`the search field ${name} has two columns`)
    if (!declared.some((field) => field.name === name)) throw new Error(`the search field ${name} is not declared`)
    columns.set(name, column)
  }
  for (const [name, [type, column]] of Object.entries(plain)) {
    add(name, () => ({ type, where: (test) => test(sql.literal(column)) }))
  }
  for (const [name, column] of Object.entries(others)) add(name, column)
  for (const { column, field } of added) add(field.name, (path) => column(sql, path))
  const missing = declared.filter(({ name }) => !columns.has(name))
  if (missing.length > 0)
    throw new Error(`search fields without a column: ${missing.map(({ name }) => name).join(", ")}`)
  return {
    column: (field, path) => {
      const column = columns.get(field)
      if (column === undefined) throw new Error(`the search field ${field} has no column`)
      return column(path)
    },
    search
  }
}
