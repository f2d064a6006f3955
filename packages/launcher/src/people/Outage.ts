import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** The database of the seats does not answer. */
export class PeopleUnavailable extends Data.TaggedError("PeopleUnavailable")<{ readonly cause: SqlError }> {}

/** A database that does not answer is logged, and fails with `PeopleUnavailable`. */
export const orUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    effect,
    (error): error is Extract<E, SqlError> => isSqlError(error),
    (cause) =>
      Effect.andThen(
        Effect.logError("the database of the seats does not answer", cause),
        Effect.fail(new PeopleUnavailable({ cause }))
      )
  )
