/**
 * Without this: 16 callers that poll one list take 1.4 ms of the service's CPU a call instead of 0.35, and 0.61 with
 * `Batched.ts`, which joins only the requests of one moment (docs/internals/scale.md); costs this file.
 */
import { RequestFacts } from "@runplane/server"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"

/** A read, and how many callers wait for it. */
interface Read<A, E> {
  readonly answer: Deferred.Deferred<A, E>
  callers: number
  fiber: Fiber.Fiber<unknown> | undefined
}

/** The readers of one key: those of the next read, and the number of running and pending reads. */
interface Readers<A, E> {
  readonly turn: Semaphore.Semaphore
  next: Read<A, E> | undefined
  reads: number
}

/**
 * A read that callers with the same key (`keyOf`) share. No caller gets rows that were read before its request: a
 * caller during a read gets the next one, together with all others that arrive until then. So the database has one such
 * read at a time, for any number of callers. An interrupted caller does not affect the others; a read without callers
 * is interrupted. It runs with the `RequestFacts` of its first caller, whose client `keyOf` gets as well.
 */
export const shareReads = Effect.fnUntraced(function* <Q, A, E, R>(
  read: (query: Q) => Effect.Effect<A, E, R>,
  keyOf: (query: Q, client: string) => string
) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<R>()
  const kinds = new Map<string, Readers<A, E>>()

  /** Joins the read that answers this request: one that has not begun yet. */
  const join = Effect.fnUntraced(function* (query: Q) {
    const facts = yield* RequestFacts
    const key = keyOf(query, facts.client)
    const readers = kinds.get(key) ?? { turn: Semaphore.makeUnsafe(1), next: undefined, reads: 0 }
    if (readers.next !== undefined) {
      readers.next.callers++
      return { readers, read: readers.next }
    }
    const next: Read<A, E> = { answer: Deferred.makeUnsafe<A, E>(), callers: 1, fiber: undefined }
    readers.next = next
    readers.reads++
    kinds.set(key, readers)
    const begin = Effect.sync(() => leaveQueue(readers, next))
    const end = Effect.sync(() => {
      leaveQueue(readers, next)
      readers.reads--
      if (readers.reads === 0) kinds.delete(key)
    })
    const work = Effect.suspend(() => read(query)).pipe(Effect.provideService(RequestFacts, facts))
    // Until the fiber begins, further callers join this read.
    next.fiber = yield* readers.turn
      .withPermits(1)(Effect.andThen(begin, Deferred.into(work, next.answer)))
      .pipe(Effect.ensuring(end), Effect.interruptible, Effect.provideContext(context), Effect.forkIn(scope))
    return { readers, read: next }
  })

  const leave = ({ read, readers }: Effect.Success<ReturnType<typeof join>>) =>
    Effect.sync(() => {
      read.callers--
      if (read.callers > 0 || Deferred.isDoneUnsafe(read.answer)) return
      leaveQueue(readers, read)
      read.fiber?.interruptUnsafe()
    })

  return (query: Q): Effect.Effect<A, E> =>
    Effect.acquireUseRelease(join(query), ({ read }) => Deferred.await(read.answer), leave)
})

/** Later callers get another read. */
const leaveQueue = <A, E>(readers: Readers<A, E>, read: Read<A, E>) => {
  if (readers.next === read) readers.next = undefined
}

/** The same for a read that has no query. */
export const shareRead = <A, E, R>(read: Effect.Effect<A, E, R>) =>
  Effect.map(
    shareReads(
      () => read,
      () => ""
    ),
    (shared) => shared(undefined)
  )
