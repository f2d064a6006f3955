import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ColdHead } from "./ColdLog.ts"

/** What the database has, or else what the files have of a run that has left it. */
export const orCold = Effect.fnUntraced(function* <A>(
  stored: Effect.Effect<A | undefined, SqlError>,
  head: Effect.Effect<ColdHead | undefined, SqlError>,
  cold: (head: ColdHead) => Effect.Effect<A, SqlError>
): Effect.fn.Return<A | undefined, SqlError> {
  const found = yield* stored
  if (found !== undefined) return found
  const coldHead = yield* head
  return coldHead && (yield* cold(coldHead))
})
