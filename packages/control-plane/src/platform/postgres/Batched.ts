/**
 * Without this: a state takes 0.6 ms of the service's CPU instead of 0.3, because each request has its own statement
 * (docs/internals/scale.md); costs this file.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

interface Batch<K, A> extends Request.Request<A, SqlError> {
  readonly key: K
}

interface BatchOptions<K, A> {
  /** Returns one value for each key, in their order. */
  readonly run: (keys: ReadonlyArray<K>) => Effect.Effect<ReadonlyArray<A>, SqlError>
  /** Whether callers outside of transactions share statements too. */
  readonly isShared: boolean
  /** Most keys of one statement. */
  readonly most?: number
}

/** One statement for all fibers of a transaction, or with `isShared` for all fibers, that call at the same time. */
export const batched = <K, A>(
  sql: SqlClient,
  { isShared, most = Number.POSITIVE_INFINITY, run }: BatchOptions<K, A>
) => {
  const requestOf = Request.of<Batch<K, A>>()
  const resolver = RequestResolver.makeWith<Batch<K, A>>({
    batchKey: (entry) =>
      Option.getOrElse(Context.getOption(entry.context, sql.transactionService), () => (isShared ? sql : entry)),
    delay: Effect.yieldNow,
    collectWhile: (entries) => entries.size < most,
    runAll: (entries) =>
      Effect.map(run(entries.map(({ request }) => request.key)), (values) =>
        entries.forEach((entry, index) => {
          const value = values[index]
          entry.completeUnsafe(
            value === undefined ? Exit.die(new Error("a batch has returned no value for a key")) : Exit.succeed(value)
          )
        })
      )
  })
  return (key: K) => Effect.request(requestOf({ key }), resolver)
}

/**
 * Reads by key: callers that read at the same time share a statement, in a transaction only with each other. `read`
 * returns the rows that exist; at most `most` keys share a statement. The statement is in no caller's trace.
 */
export const batchedReads = <K extends string, A>(
  sql: SqlClient,
  most: number,
  read: (keys: ReadonlyArray<K>) => Effect.Effect<ReadonlyMap<string, A>, SqlError>
): ((key: K) => Effect.Effect<A | undefined, SqlError>) => {
  const readOption = batched<K, Option.Option<A>>(sql, {
    run: (keys) =>
      Effect.map(read([...new Set(keys)]), (found) => keys.map((key) => Option.fromNullishOr(found.get(key)))).pipe(
        Effect.withTracerEnabled(false)
      ),
    isShared: true,
    most
  })
  return (key) => Effect.map(readOption(key), Option.getOrUndefined)
}

/**
 * Writes rows one by one for its callers, and with one statement where fibers of one transaction write at the same
 * time. Outside of a transaction each row has its own statement. A write is not interrupted: no statement outlives
 * the transaction that it belongs to.
 */
export const batchedWrites = <A, B>(
  sql: SqlClient,
  write: (rows: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, SqlError>
): ((row: A) => Effect.Effect<B, SqlError>) => {
  const writeOne = batched<A, B>(sql, { run: write, isShared: false })
  return (row) => Effect.uninterruptible(writeOne(row))
}
