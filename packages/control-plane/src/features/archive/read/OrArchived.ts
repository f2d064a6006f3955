import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ArchivedHead } from "./ArchivedLog.ts"

/** What the database has, or else what the files have of a run that has left it. */
export const orArchived = Effect.fnUntraced(function* <A>(
  stored: Effect.Effect<A | undefined, SqlError>,
  head: Effect.Effect<ArchivedHead | undefined, SqlError>,
  archived: (head: ArchivedHead) => Effect.Effect<A, SqlError>
): Effect.fn.Return<A | undefined, SqlError> {
  const found = yield* stored
  if (found !== undefined) return found
  const archivedHead = yield* head
  return archivedHead && (yield* archived(archivedHead))
})
