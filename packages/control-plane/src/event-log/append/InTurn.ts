import * as Effect from "effect/Effect"
import type { Changed } from "./AppendRequest.ts"

/**
 * Stores the parts of one append one after the other, each on the cursor that the one before has reached, and answers
 * for all of them. What is stored stays stored when a later part fails.
 */
export const inTurn = Effect.fnUntraced(function* <Part, E>(
  cursor: number | undefined,
  [first, ...others]: readonly [Part, ...ReadonlyArray<Part>],
  store: (part: Part, cursor: number | undefined) => Effect.Effect<Changed, E>
): Effect.fn.Return<Changed, E> {
  let whole = yield* store(first, cursor)
  for (const part of others) {
    const next = yield* store(part, cursor === undefined ? undefined : whole.cursor)
    const refusals = [...(whole.refusals ?? []), ...(next.refusals ?? [])]
    whole = { ...next, events: [...whole.events, ...next.events], refusals }
  }
  return whole
})
