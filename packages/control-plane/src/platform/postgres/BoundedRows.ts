import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

/** About how many bytes of rows are read at a time; one row is always among them. */
export const READ_BYTES = 4 * 1024 * 1024

/** The first of the requested rows, bounded in bytes. */
export interface BoundedRows<Row> {
  readonly rows: ReadonlyArray<Row>
  /** How many of the keys these rows stand for; a key without a row counts as well. */
  readonly taken: number
  /** Whether there are keys left. */
  readonly isCut: boolean
}

interface Wanted {
  /** An SQL array of the keys, in the order of the rows. */
  readonly keys: Fragment
  readonly from: Fragment
  /** The condition that a row is the one of a key. */
  readonly isOf: (key: Fragment) => Fragment
  readonly columns: Fragment
  /** The columns that a row may be large of: text, json, or arrays of text; NULL counts nothing. */
  readonly large: ReadonlyArray<string>
  /** About how many bytes of rows at a time; `READ_BYTES` by default. */
  readonly mostBytes?: number | undefined
}

/** PostgreSQL compresses nothing further than this. */
const MOST_COMPRESSED = 256

const sum = (columns: ReadonlyArray<string>, bytesOf: (column: string) => string): string =>
  columns.map((column) => `coalesce(${bytesOf(column)}, 0)`).join(" + ")

const exactly = (column: string) => `octet_length(${column}::text)`

/** SQL for the bytes of a row's columns, which are text, json or arrays of text; compressed values are unpacked. */
export const bytesOf = (columns: ReadonlyArray<string>): string => sum(columns, exactly)

const atMost = (column: string) =>
  `pg_column_size(${column})::bigint * CASE WHEN pg_column_compression(${column}) IS NULL THEN 1 ELSE ${MOST_COMPRESSED} END`

/** SQL for the most bytes that a row's columns can have, without reading the values. */
export const mostBytesOf = (columns: ReadonlyArray<string>): string => sum(columns, atMost)

/**
 * Reads rows by their keys until they come to `mostBytes` (docs/reference/http.md#page-bytes). Rows that cannot come to
 * that are read at once. Otherwise the database measures one row after the other and stops there: it unpacks no row
 * behind that, however large they are and however many keys.
 */
export const readBounded = <Row extends object>(
  sql: PgClient.PgClient,
  { columns, from, isOf, keys, large, mostBytes = READ_BYTES }: Wanted
): Effect.Effect<BoundedRows<Row>, SqlError> =>
  Effect.map(
    sql<Row & KeyRow>`
      WITH RECURSIVE requested AS MATERIALIZED (SELECT ${keys} AS keys), taken (count, bytes) AS (
        SELECT 0, 0::bigint
        UNION ALL
        SELECT taken.count + 1, taken.bytes + coalesce(next.bytes, 0)
        FROM taken CROSS JOIN requested
        LEFT JOIN LATERAL (
          SELECT ${sql.literal(bytesOf(large))} AS bytes FROM ${from}
          WHERE ${isOf(sql`requested.keys[taken.count + 1]`)} LIMIT 1
        ) AS next ON true
        WHERE taken.bytes < ${mostBytes} AND taken.count < cardinality(requested.keys)
      ), thin AS MATERIALIZED (
        SELECT coalesce(sum(next.bytes), 0) < ${mostBytes} AS are_all
        FROM requested CROSS JOIN LATERAL unnest(requested.keys) AS key CROSS JOIN LATERAL (
          SELECT ${sql.literal(mostBytesOf(large))} AS bytes FROM ${from} WHERE ${isOf(sql`key`)} LIMIT 1
        ) AS next
      )
      SELECT cardinality(requested.keys) AS requested_keys, row.*
      FROM requested
      CROSS JOIN LATERAL unnest(
        requested.keys[1:CASE WHEN (SELECT are_all FROM thin) THEN cardinality(requested.keys)
                          ELSE (SELECT max(count) FROM taken) END]
      ) WITH ORDINALITY AS entry (key, number)
      LEFT JOIN LATERAL (
        SELECT true AS is_found, ${columns} FROM ${from} WHERE ${isOf(sql`entry.key`)} LIMIT 1
      ) AS row ON true
      ORDER BY entry.number`,
    (rows) => ({
      rows: rows.filter((row) => row.is_found === true),
      taken: rows.length,
      isCut: rows.length < (rows[0]?.requested_keys ?? 0)
    })
  )

interface KeyRow {
  readonly requested_keys: number
  readonly is_found: true | null
}
