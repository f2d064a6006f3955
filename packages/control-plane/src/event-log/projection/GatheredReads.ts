import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Reads under way at a time: who comes meanwhile waits for the next one, together with all others. */
const AT_ONCE = 2

/**
 * A read of one row that callers who ask at the same time share, whichever rows they ask for: `read` brings the rows of
 * at most so many keys, and those that it does not bring are undefined. Nobody is answered with what was read before
 * the request. A caller that goes away takes nothing from the others; a read that fails fails for all of its callers.
 */
export const gatherReads = Effect.fnUntraced(function* <A, E>(
  read: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, A>, E>,
  most: number
) {
  type Answer = Deferred.Deferred<A | undefined, E>
  const scope = yield* Effect.scope
  const waiting = new Map<string, Answer>()
  let underWay = 0

  const readNext = Effect.suspend(() => {
    const asked = [...waiting].slice(0, most)
    for (const [key] of asked) waiting.delete(key)
    return Effect.flatMap(Effect.exit(read(asked.map(([key]) => key))), (rows) =>
      Effect.forEach(
        asked,
        ([key, answer]) =>
          Deferred.done(
            answer,
            Exit.map(rows, (found) => found.get(key))
          ),
        { discard: true }
      )
    )
  })
  /** Whether to read on. Ends within the same step: who asks after it begins a read. */
  const hasMore = () => {
    if (waiting.size > 0) return true
    underWay -= 1
    return false
  }
  const readAll = Effect.whileLoop({ while: hasMore, body: () => readNext, step: () => {} }).pipe(
    Effect.withTracerEnabled(false)
  )

  const ask = (key: string): Effect.Effect<Answer> =>
    Effect.suspend(() => {
      const known = waiting.get(key)
      if (known !== undefined) return Effect.succeed(known)
      const answer: Answer = Deferred.makeUnsafe()
      waiting.set(key, answer)
      if (underWay >= AT_ONCE) return Effect.succeed(answer)
      underWay += 1
      return Effect.as(Effect.forkIn(Effect.interruptible(readAll), scope), answer)
    })
  // Whoever announces a read begins it: others may wait for it already when its caller goes away.
  return (key: string): Effect.Effect<A | undefined, E> =>
    Effect.flatMap(Effect.uninterruptible(ask(key)), (answer) => Deferred.await(answer))
})
