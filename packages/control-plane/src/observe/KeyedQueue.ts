import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** How long a closing scope waits for what is still in the lanes. Milliseconds. */
const LAST_CALL_MS = 2_000

export interface LaneOptions<A> {
  /** What all lanes may hold together; an item that is larger counts as much as there is. */
  readonly capacityBytes: number
  /** What one lane may hold. */
  readonly laneBytes: number
  /** What one owner may hold of a lane; a single item may be larger. */
  readonly ownerBytes: number
  /** KeyedQueue that are worked on at the same time. */
  readonly concurrency: number
  /** Most items that are worked on at once in a lane. */
  readonly batch: number
  readonly work: (key: string, items: NonEmptyReadonlyArray<A>) => Effect.Effect<void>
}

interface Lane<A> {
  readonly waiting: Array<Waiting<A>>
  /** Of what waits and of what is being worked on. */
  bytes: number
  /** The same for each owner that has something there. */
  readonly owned: Map<string, number>
}

interface Waiting<A> {
  readonly owner: string
  readonly item: A
  readonly bytes: number
}

export interface KeyedQueue<A> {
  /**
   * Waits while the lanes together are full; false when the item's own is, or the share of the item's owner in it: the
   * item is not taken then.
   */
  readonly put: (key: string, owner: string, item: A, bytes: number) => Effect.Effect<boolean>
}

/**
 * A buffer with a lane for each key: what has the same key is worked on in its order and in batches, while other keys
 * pass. It is bounded in bytes, so whoever fills it waits for as long as the work does not go on; one lane whose work
 * stands still can only fill its share, and one owner of items only a share of its lane. There is a lane only while
 * something waits in it. The scope closes after what was put has been worked on, or soon.
 */
export const makeLanes = Effect.fnUntraced(function* <A>(options: LaneOptions<A>) {
  const { batch, capacityBytes, concurrency, laneBytes, ownerBytes, work } = options
  const lanes = new Map<string, Lane<A>>()
  const room = yield* Semaphore.make(capacityBytes)
  const turns = yield* Semaphore.make(concurrency)
  const workers = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  // All the room is there again once the lanes are empty.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(room.take(capacityBytes)), LAST_CALL_MS))

  const clear = Effect.fnUntraced(function* (key: string, lane: Lane<A>) {
    while (lane.waiting.length > 0) {
      yield* turns.withPermits(1)(
        Effect.suspend(() => {
          const taken = lane.waiting.splice(0, batch)
          const items = taken.map(({ item }) => item)
          const bytes = taken.reduce((sum, waiting) => sum + waiting.bytes, 0)
          const leave = Effect.suspend(() => {
            lane.bytes -= bytes
            for (const waiting of taken) own(lane, waiting.owner, -waiting.bytes)
            return room.release(bytes)
          })
          return isReadonlyArrayNonEmpty(items) ? Effect.ensuring(work(key, items), leave) : Effect.void
        })
      )
    }
    lanes.delete(key)
  })

  const own = (lane: Lane<A>, owner: string, bytes: number) => {
    const now = (lane.owned.get(owner) ?? 0) + bytes
    if (now > 0) lane.owned.set(owner, now)
    else lane.owned.delete(owner)
  }

  const isFull = (lane: Lane<A>, owner: string, bytes: number): boolean => {
    const owned = lane.owned.get(owner) ?? 0
    return lane.bytes + bytes > laneBytes || (owned > 0 && owned + bytes > ownerBytes)
  }

  const put: KeyedQueue<A>["put"] = Effect.fnUntraced(function* (key, owner, item, size) {
    const bytes = Math.min(size, capacityBytes)
    const before = lanes.get(key)
    if (before !== undefined && isFull(before, owner, bytes)) return false
    yield* room.take(bytes)
    const lane = lanes.get(key)
    if (lane !== undefined) {
      lane.waiting.push({ owner, item, bytes })
      lane.bytes += bytes
      own(lane, owner, bytes)
      return true
    }
    const opened: Lane<A> = { waiting: [{ owner, item, bytes }], bytes, owned: new Map([[owner, bytes]]) }
    lanes.set(key, opened)
    yield* Effect.forkIn(clear(key, opened), workers)
    return true
  })
  return { put } satisfies KeyedQueue<A>
})
