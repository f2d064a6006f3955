import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { isTimeout } from "../SqlFailures.ts"

/** Searches that the database has to do at a time, for the whole process; the others wait. */
const SEARCHES_AT_ONCE = 3
/** What a statement of a search may take. Milliseconds. */
const STATEMENT_MS = 5_000
/** What a search may take with its wait. Milliseconds. */
const SEARCH_MS = 15_000

/** A search was given up: it takes too long, or others do. */
export class SearchTooSlow extends Data.TaggedError("SearchTooSlow") {}

/**
 * What searches may use of the database: callers write them, and may ask for what no index finds. They share a few
 * connections, and a statement that takes long is ended, so that no search holds up anything else
 * (docs/http.md#search-limits).
 */
export class SearchBudget extends Context.Service<
  SearchBudget,
  {
    /** Runs the statements of one search, in a transaction that carries their limit. */
    readonly run: <A, E, R>(search: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError | SearchTooSlow, R>
  }
>()("runplane/control-plane/SearchBudget") {
  static readonly layer = Layer.effect(
    SearchBudget,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const turns = yield* Semaphore.make(SEARCHES_AT_ONCE)
      const tooSlow = new SearchTooSlow()
      const limited = sql`SELECT set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`

      const run = <A, E, R>(search: Effect.Effect<A, E, R>) =>
        turns
          .withPermits(1)(sql.withTransaction(Effect.andThen(limited, search)))
          .pipe(
            Effect.catchIf(
              (error) => isSqlError(error) && isTimeout(error),
              () => Effect.fail(tooSlow)
            ),
            Effect.timeoutOrElse({ duration: SEARCH_MS, orElse: () => Effect.fail(tooSlow) })
          )
      return SearchBudget.of({ run })
    })
  )
}
