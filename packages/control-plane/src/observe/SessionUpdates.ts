import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { SessionUpdate } from "./decide/Input.ts"

/** Updates held for an observer that is busy; the oldest give way, because a `Check` brings the newest state anyway. */
const CAPACITY = 32

/**
 * Hands what one watch learns about all sessions to the observers of each. Nothing is kept for sessions that nobody
 * observes: an observer asks the runtime for the state when it starts.
 */
export class SessionUpdates extends Context.Service<
  SessionUpdates,
  {
    readonly publish: (name: string, update: SessionUpdate) => void
    readonly publishAll: (update: SessionUpdate) => void
    readonly isObserved: (name: string) => boolean
    /** Whether the watch of all sessions is open, so that a new session is heard of as soon as it exists. */
    readonly isWatching: () => boolean
    readonly setWatching: (open: boolean) => void
    /** Updates under any of the names that the observer goes by: its session's id and its run's. */
    readonly subscribe: (names: ReadonlySet<string>) => Effect.Effect<Queue.Dequeue<SessionUpdate>, never, Scope.Scope>
  }
>()("runplane/control-plane/SessionUpdates") {
  static readonly layer = Layer.sync(SessionUpdates, () => {
    const subscribers = new Map<string, Set<Queue.Queue<SessionUpdate>>>()
    let watching = false

    const publish = (name: string, update: SessionUpdate) => {
      for (const queue of subscribers.get(name) ?? []) Queue.offerUnsafe(queue, update)
    }
    const publishAll = (update: SessionUpdate) => {
      for (const queue of new Set([...subscribers.values()].flatMap((queues) => [...queues]))) {
        Queue.offerUnsafe(queue, update)
      }
    }
    const subscribe = Effect.fnUntraced(function* (names: ReadonlySet<string>) {
      const queue = yield* Queue.sliding<SessionUpdate>(CAPACITY)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          for (const name of names) subscribers.set(name, (subscribers.get(name) ?? new Set()).add(queue))
        }),
        () =>
          Effect.sync(() => {
            for (const name of names) {
              const queues = subscribers.get(name)
              queues?.delete(queue)
              if (queues?.size === 0) subscribers.delete(name)
            }
          })
      )
      return queue
    })
    return SessionUpdates.of({
      publish,
      publishAll,
      isObserved: (name) => subscribers.has(name),
      isWatching: () => watching,
      setWatching: (open) => {
        watching = open
      },
      subscribe
    })
  })
}
