import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type BoundedRows, readBounded } from "../postgres/BoundedRows.ts"
import { cursorOf, type Position, positionOf, UnknownCursor } from "../postgres/search/PageCursor.ts"
import { listPage, type TextPage } from "./JsonAnswer.ts"

/** The part of a list that a request selects. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
}

interface Listed extends PageRequest {
  readonly columns: Fragment
  readonly from: Fragment
  readonly where: Fragment
  /** The condition of the rows behind a cursor, which leaves the total as it is. */
  readonly behind?: Fragment | undefined
  /** The columns that sort the rows, with their directions. No two rows are equal in them. */
  readonly order: Fragment
}

/** Rows of a list, and the number of all rows that match. */
export interface ListPage<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly total: number
}

/**
 * Reads a page of a list and its total. A page whose rows may be large selects their ids, and `pageText` reads the
 * rows. `concurrency` is 1 for a search, which gets one connection.
 */
export const readPage = <Row extends object>(
  sql: PgClient.PgClient,
  { behind, columns, from, limit, offset, order, where }: Listed,
  concurrency: 1 | 2 = 2
): Effect.Effect<ListPage<Row>, SqlError> =>
  Effect.map(
    Effect.all(
      [
        sql<Row>`
          SELECT ${columns} FROM ${from} WHERE ${behind === undefined ? where : sql`${where} AND ${behind}`}
          ORDER BY ${order} LIMIT ${BigInt(limit)} OFFSET ${BigInt(offset)}`,
        sql<{ readonly total: number }>`SELECT count(*)::int AS total FROM ${from} WHERE ${where}`
      ],
      { concurrency }
    ),
    ([rows, [count]]) => ({ rows, total: count?.total ?? 0 })
  )

/** A row of a page that selects ids only. */
export interface RowId {
  readonly id: string
}

interface RowsOfIds {
  readonly from: Fragment
  /** The column of the id, `id` by default. */
  readonly id?: Fragment
  readonly columns: Fragment
  /** The columns that may be large. */
  readonly large: ReadonlyArray<string>
}

/** Reads rows by their ids, bounded in bytes (docs/reference/http.md#page-bytes). */
export const rowsOfIds =
  <Row extends object>(sql: PgClient.PgClient, { columns, from, id = sql`id`, large }: RowsOfIds) =>
  (ids: ReadonlyArray<string>): Effect.Effect<BoundedRows<Row>, SqlError> =>
    readBounded<Row>(sql, {
      keys: sql`${ids}::text[]::uuid[]`,
      from,
      isOf: (key) => sql`${id} = ${key}`,
      columns,
      large
    })

/**
 * A page as the text of its response: the rows of its ids, read while the client receives them, then total, limit,
 * offset, and the cursor of a full page.
 */
export const pageText = <Row>(
  { rows, total }: ListPage<RowId>,
  { limit, offset }: PageRequest,
  read: (ids: ReadonlyArray<string>) => Effect.Effect<BoundedRows<Row>, SqlError>,
  textOf: (row: Row) => string,
  nextCursor?: string
): Effect.Effect<TextPage<SqlError>, SqlError> => {
  const cursor = nextCursor === undefined ? "" : `,"nextCursor":"${nextCursor}"`
  const after = `],"total":${total},"limit":${limit},"offset":${offset}${cursor}}`
  return listPage(
    rows.map(({ id }) => id),
    read,
    textOf,
    after
  )
}

/** The position behind which a page begins: undefined without a cursor, a failure for a cursor of another list. */
export const startOfPage = (
  order: string,
  cursor: string | undefined,
  isPosition: (position: Position) => boolean
): Effect.Effect<Position | undefined, UnknownCursor> => {
  if (cursor === undefined) return Effect.undefined
  const position = positionOf(order, cursor)
  return position === undefined || !isPosition(position) ? Effect.fail(new UnknownCursor()) : Effect.succeed(position)
}

/** The cursor behind the last row of a page; undefined for a page that is not full, which is the last one. */
export const nextCursorOf = <Row>(
  order: string,
  rows: ReadonlyArray<Row>,
  limit: number,
  position: (row: Row) => Position
): string | undefined => {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit ? undefined : cursorOf(order, position(last))
}
