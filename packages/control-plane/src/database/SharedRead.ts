import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/**
 * A read that callers share when they ask for it at the same time. Nobody is answered with what was read before the
 * request: who comes while a read is under way gets the next one, together with all others who came meanwhile. So
 * however many ask, the database has one such read to do at a time. A caller that goes away takes nothing from the
 * others.
 */
export const shareReads = Effect.fnUntraced(function* <A, E, R>(read: Effect.Effect<A, E, R>) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<R>()
  const turn = yield* Semaphore.make(1)
  let next: Deferred.Deferred<A, E> | undefined

  return Effect.suspend(() => {
    if (next !== undefined) return Deferred.await(next)
    const asked = Deferred.makeUnsafe<A, E>()
    next = asked
    const begin = Effect.sync(() => {
      next = undefined
    })
    return turn
      .withPermits(1)(Effect.andThen(begin, Deferred.into(read, asked)))
      .pipe(Effect.provideContext(context), Effect.forkIn(scope), Effect.andThen(Deferred.await(asked)))
  })
})
