import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { SessionUpdate } from "../decide/Input.ts"

/** Is called with each update, and neither waits nor fails. */
type Listener = (update: SessionUpdate) => void

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
    readonly subscribe: (names: ReadonlySet<string>, listener: Listener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("runplane/control-plane/SessionUpdates") {
  static readonly layer = Layer.sync(SessionUpdates, () => {
    /** Nearly every name has one, so arrays. */
    const listeners = new Map<string, ReadonlyArray<Listener>>()
    let watching = false

    const publish = (name: string, update: SessionUpdate) => {
      for (const hear of listeners.get(name) ?? []) hear(update)
    }
    const publishAll = (update: SessionUpdate) => {
      for (const hear of new Set([...listeners.values()].flat())) hear(update)
    }
    const subscribe = (names: ReadonlySet<string>, listener: Listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            for (const name of names) listeners.set(name, [...(listeners.get(name) ?? []), listener])
          }),
          () =>
            Effect.sync(() => {
              for (const name of names) {
                const others = (listeners.get(name) ?? []).filter((other) => other !== listener)
                if (others.length === 0) listeners.delete(name)
                else listeners.set(name, others)
              }
            })
        )
      )
    return SessionUpdates.of({
      publish,
      publishAll,
      isObserved: (name) => listeners.has(name),
      isWatching: () => watching,
      setWatching: (open) => {
        watching = open
      },
      subscribe
    })
  })
}
