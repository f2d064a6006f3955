import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

interface WriteRow<A, B> extends Request.Request<B, SqlError> {
  readonly row: A
}

/**
 * Writes rows one by one for its callers, and with one statement where fibers of one transaction write at the same
 * time; `write` answers for each row, in their order. Outside of a transaction, and between transactions, nothing is
 * shared. It is not interrupted: no statement outlives the transaction that it belongs to.
 */
export const together = <A, B>(
  sql: SqlClient,
  write: (rows: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, SqlError>
): ((row: A) => Effect.Effect<B, SqlError>) => {
  type Row = WriteRow<A, B>
  const transactionOf = (entry: Request.Entry<Row>) =>
    Option.match(Context.getOption(entry.context, sql.transactionService), {
      onNone: () => entry,
      onSome: (transaction) => transaction
    })
  const rowOf = Request.of<Row>()
  const resolver = RequestResolver.makeWith<Row>({
    batchKey: transactionOf,
    delay: Effect.yieldNow,
    collectWhile: () => true,
    runAll: (entries) =>
      Effect.map(write(entries.map(({ request }) => request.row)), (answers) =>
        entries.forEach((entry, place) => {
          const answer = answers[place]
          entry.completeUnsafe(
            answer === undefined ? Exit.die(new Error("a row was written without an answer")) : Exit.succeed(answer)
          )
        })
      )
  })
  return (row) => Effect.uninterruptible(Effect.request(rowOf({ row }), resolver))
}

/** A column of texts some of which, or all, may be missing: the driver does not guess the type of nothing. */
export const nullableTexts = (values: ReadonlyArray<string | null>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Lists of texts as two columns: the place of the row that each text belongs to, from 1, and the text. */
export const flattened = (
  lists: ReadonlyArray<ReadonlyArray<string>>
): { readonly owner: ReadonlyArray<number>; readonly text: ReadonlyArray<string> } => ({
  owner: lists.flatMap((list, place) => list.map(() => place + 1)),
  text: lists.flat()
})
