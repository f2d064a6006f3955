import * as PgClient from "@effect/sql-pg/PgClient"
import { makeLongTurns, TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** Searches of one caller that the database has to do at a time; one more is left for other callers. */
const SEARCHES_AT_ONCE = 3
/** What a statement of a search may take. Milliseconds. */
const STATEMENT_MS = 5_000
/** What the statements of a search may take together. Milliseconds. */
const SEARCH_MS = 15_000
/** The longest wait for a turn. */
const LONGEST_WAIT = "10 seconds"
/** The name of the lane in refusals. */
const LANE = "search"

/** A search took too long, also without other searches. */
export class SearchTooSlow extends Data.TaggedError("SearchTooSlow") {}

/** Why a search has no answer although the database answers. */
export type SearchFailure = SearchTooSlow | TurnRefused

/**
 * The share of searches in the database: callers write them, perhaps without a matching index. Searches share a few
 * connections, in turns by caller, and a statement that takes too long is ended, so that no search delays others
 * (docs/reference/search.md#search-limits).
 */
export class SearchBudget extends Context.Service<
  SearchBudget,
  {
    /** Runs a search in the turn of its caller. */
    readonly inTurn: <A, E, R>(search: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TurnRefused, R>
    /**
     * Runs statements of a search in a transaction that carries their limit. Fails with `SearchTooSlow` when they take
     * too long by themselves, and is refused as busy when other searches of the process ran at the same time.
     */
    readonly limited: <A, E, R>(statements: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError | SearchFailure, R>
  }
>()("runplane/control-plane/SearchBudget") {
  static readonly layer = Layer.effect(
    SearchBudget,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const turns = makeLongTurns(LANE, SEARCHES_AT_ONCE, { longestWait: LONGEST_WAIT })
      const limit = sql`SELECT set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`
      let running = 0
      let begun = 0

      const limited = <A, E, R>(statements: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          const isFirst = running === 0
          running++
          const number = ++begun
          const tooSlow = (): Effect.Effect<never, SearchFailure> =>
            Effect.fail(
              isFirst && begun === number ? new SearchTooSlow() : new TurnRefused({ lane: LANE, reason: "busy" })
            )
          return sql.withTransaction(Effect.andThen(limit, statements)).pipe(
            Effect.catchIf((error) => isSqlError(error) && error.reason._tag === "StatementTimeoutError", tooSlow),
            Effect.timeoutOrElse({ duration: SEARCH_MS, orElse: tooSlow }),
            Effect.ensuring(
              Effect.sync(() => {
                running--
              })
            )
          )
        })
      return SearchBudget.of({ inTurn: turns.run, limited })
    })
  )
}
