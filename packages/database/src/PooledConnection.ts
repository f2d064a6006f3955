import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Connection, Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"

type Transform = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/**
 * A session of the driver's pool, as the statements of `effect/sql` use it. `noticed` gets the error of a statement
 * before that fails.
 */
export const pooledConnection = (
  session: PgConnection,
  noticed: (error: SqlError) => Effect.Effect<void>
): Connection => {
  const query = (sql: string, params: ReadonlyArray<unknown>, prepare = true): Effect.Effect<Result, SqlError> =>
    Effect.tapError(session.query(sql, params, prepare), noticed)
  const rows = (
    sql: string,
    params: ReadonlyArray<unknown>,
    transform: Transform,
    prepare: boolean
  ): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
    Effect.map(query(sql, params, prepare), (result) =>
      transform === undefined ? result.rows : transform(result.rows)
    )
  return {
    execute: (sql, params, transform) => rows(sql, params, transform, true),
    executeUnprepared: (sql, params, transform) => rows(sql, params, transform, false),
    executeRaw: (sql, params): Effect.Effect<Result, SqlError> => query(sql, params),
    executeValues: (sql, params) => session.queryValues(sql, params),
    executeValuesUnprepared: (sql, params) => session.queryValues(sql, params, false),
    executeStream: (sql, params, transform) => {
      const streamed = session.stream(sql, params)
      return transform === undefined
        ? streamed
        : Stream.flatMap(streamed, (row) => Stream.fromIterable(transform([row])))
    }
  }
}
