import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** The readers of one kind: those that wait for the next read, and how many reads are under way or waited for. */
interface Readers<A, E> {
  readonly turn: Semaphore.Semaphore
  next: Deferred.Deferred<A, E> | undefined
  reads: number
}

/**
 * A read that callers share when they ask for the same (`keyOf`) at the same time. Nobody is answered with what was
 * read before the request: who comes while a read is under way gets the next one, together with all others who came
 * meanwhile. So however many ask, the database has one such read to do at a time. A caller that goes away takes nothing
 * from the others.
 */
export const shareReads = Effect.fnUntraced(function* <Q, A, E, R>(
  read: (query: Q) => Effect.Effect<A, E, R>,
  keyOf: (query: Q) => string
) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<R>()
  const kinds = new Map<string, Readers<A, E>>()

  /** The read that answers this request: one that has not begun yet. */
  const readFor = (query: Q): Effect.Effect<Deferred.Deferred<A, E>> =>
    Effect.suspend(() => {
      const key = keyOf(query)
      const readers = kinds.get(key) ?? { turn: Semaphore.makeUnsafe(1), next: undefined, reads: 0 }
      if (readers.next !== undefined) return Effect.succeed(readers.next)
      const asked = Deferred.makeUnsafe<A, E>()
      readers.next = asked
      readers.reads++
      kinds.set(key, readers)
      const begin = Effect.sync(() => {
        readers.next = undefined
      })
      const end = Effect.sync(() => {
        readers.reads--
        if (readers.reads === 0) kinds.delete(key)
      })
      return readers.turn
        .withPermits(1)(
          Effect.andThen(
            begin,
            Deferred.into(
              Effect.suspend(() => read(query)),
              asked
            )
          )
        )
        .pipe(
          Effect.ensuring(end),
          Effect.interruptible,
          Effect.provideContext(context),
          Effect.forkIn(scope),
          Effect.as(asked)
        )
    })

  // Whoever announces a read begins it: others may wait for it already when its caller goes away.
  return (query: Q): Effect.Effect<A, E> =>
    Effect.flatMap(Effect.uninterruptible(readFor(query)), (asked) => Deferred.await(asked))
})

/** The same for a read that has no query. */
export const shareRead = <A, E, R>(read: Effect.Effect<A, E, R>) =>
  Effect.map(
    shareReads(
      () => read,
      () => ""
    ),
    (shared) => shared(undefined)
  )
