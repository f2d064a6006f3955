import { type BadRequest, type DescribedField, searchTooSlow, unknownCursor } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { UnknownCursor } from "../postgres/search/PageCursor.ts"
import type { SearchTooSlow } from "../postgres/search/SearchBudget.ts"

type Unanswered<E> = Exclude<E, SearchTooSlow | UnknownCursor>

const isOther = <E>(error: E): error is Unanswered<E> =>
  !Predicate.isTagged(error, "SearchTooSlow") && !Predicate.isTagged(error, "UnknownCursor")

/**
 * The answer for a search that took too long, or a cursor of another list
 * (docs/reference/search.md#search-limits).
 */
export const orSearchRefused = (fields: ReadonlyArray<DescribedField>) => {
  const fast = fields.filter(({ isFast }) => isFast).map(({ name }) => name)
  return <A, E, R>(search: Effect.Effect<A, E, R>): Effect.Effect<A, Unanswered<E> | BadRequest, R> =>
    Effect.catch(search, (error): Effect.Effect<never, Unanswered<E> | BadRequest> => {
      if (isOther(error)) return Effect.fail(error)
      return Effect.fail(Predicate.isTagged(error, "UnknownCursor") ? unknownCursor() : searchTooSlow(fast))
    })
}
