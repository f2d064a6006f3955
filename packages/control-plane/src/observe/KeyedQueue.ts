import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** How long a closing scope waits for the remaining items. Milliseconds. */
const DRAIN_MS = 2_000

export interface KeyedQueueOptions<A> {
  /** Capacity of all keys together; a larger item counts as the whole capacity. */
  readonly capacityBytes: number
  /** Capacity of one key. */
  readonly keyBytes: number
  /** Share of one owner in a key; a single item may be larger. */
  readonly ownerBytes: number
  /** Keys with work in progress. */
  readonly concurrency: number
  /** Most items of one call of `work`. */
  readonly batch: number
  readonly work: (key: string, items: NonEmptyReadonlyArray<A>) => Effect.Effect<void>
}

interface Entry<A> {
  readonly owner: string
  readonly item: A
  readonly bytes: number
}

/** The items of one key, waiting or in work. */
interface KeyState<A> {
  readonly waiting: Array<Entry<A>>
  bytes: number
  readonly ownedBytes: Map<string, number>
}

export interface KeyedQueue<A> {
  /**
   * Waits while all keys together are full. False when the item's key is full, or the share of its owner: the item is
   * dropped then.
   */
  readonly put: (key: string, owner: string, item: A, bytes: number) => Effect.Effect<boolean>
}

/**
 * A queue for each key: items of one key are worked on in order and in batches, and do not delay other keys. It is
 * bounded in bytes, so producers wait while the work is slow; a blocked key fills only its share, and an owner of items
 * only a share of its key. The scope closes after the work on the remaining items, or after a timeout. Effect's Queue
 * counts items, and has neither keys nor shares.
 */
export const makeKeyedQueue = Effect.fnUntraced(function* <A>(options: KeyedQueueOptions<A>) {
  const { batch, capacityBytes, concurrency, keyBytes, ownerBytes, work } = options
  const keys = new Map<string, KeyState<A>>()
  const capacity = yield* Semaphore.make(capacityBytes)
  const slots = yield* Semaphore.make(concurrency)
  const workers = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  // The whole capacity is free when the queue is empty.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(capacity.take(capacityBytes)), DRAIN_MS))

  const count = (state: KeyState<A>, owner: string, bytes: number) => {
    state.bytes += bytes
    const owned = (state.ownedBytes.get(owner) ?? 0) + bytes
    if (owned > 0) state.ownedBytes.set(owner, owned)
    else state.ownedBytes.delete(owner)
  }

  /** The items of a defect are lost; those after them are not. */
  const safely = (key: string, items: NonEmptyReadonlyArray<A>) =>
    Effect.catchDefect(work(key, items), (defect) =>
      Effect.logError(`${items.length} items of ${key} are lost by a defect`, defect)
    )

  const drain = Effect.fnUntraced(function* (key: string, state: KeyState<A>) {
    while (state.waiting.length > 0) {
      yield* slots.withPermits(1)(
        Effect.suspend(() => {
          const taken = state.waiting.splice(0, batch)
          const items = taken.map(({ item }) => item)
          const release = Effect.suspend(() => {
            for (const { bytes, owner } of taken) count(state, owner, -bytes)
            return capacity.release(taken.reduce((sum, { bytes }) => sum + bytes, 0))
          })
          return isReadonlyArrayNonEmpty(items) ? Effect.ensuring(safely(key, items), release) : Effect.void
        })
      )
    }
    keys.delete(key)
  })

  const isFull = (state: KeyState<A>, owner: string, bytes: number): boolean => {
    const owned = state.ownedBytes.get(owner) ?? 0
    return state.bytes + bytes > keyBytes || (owned > 0 && owned + bytes > ownerBytes)
  }

  const put: KeyedQueue<A>["put"] = Effect.fnUntraced(function* (key, owner, item, size) {
    const bytes = Math.min(size, capacityBytes)
    const before = keys.get(key)
    if (before !== undefined && isFull(before, owner, bytes)) return false
    yield* capacity.take(bytes)
    const current = keys.get(key)
    const state: KeyState<A> = current ?? { waiting: [], bytes: 0, ownedBytes: new Map() }
    state.waiting.push({ owner, item, bytes })
    count(state, owner, bytes)
    if (current === undefined) {
      keys.set(key, state)
      yield* Effect.forkIn(drain(key, state), workers)
    }
    return true
  })
  return { put } satisfies KeyedQueue<A>
})
