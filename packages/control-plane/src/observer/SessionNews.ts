import type { RuntimeSessionState, SessionSnapshot } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

/** Something that makes an observer look at its session again. */
export type SessionNews =
  | {
      readonly _tag: "State"
      readonly state: RuntimeSessionState
      readonly snapshot: SessionSnapshot | undefined
    }
  /** A guess that the session has ended, or that news were missed: ask the runtime. */
  | { readonly _tag: "Check" }

/** News held for an observer that is busy; the oldest give way, because a `Check` brings the newest state anyway. */
const CAPACITY = 32

/**
 * Hands what one watch learns about all sessions to the observers of each. Nothing is kept for sessions that nobody observes:
 * an observer asks the runtime for the state when it starts.
 */
export class SessionNewsDesk extends Context.Service<
  SessionNewsDesk,
  {
    readonly deliver: (name: string, news: SessionNews) => void
    readonly deliverAll: (news: SessionNews) => void
    readonly isObserved: (name: string) => boolean
    /** News under any of the names that the observer goes by: its session's id and its run's. */
    readonly subscribe: (names: ReadonlySet<string>) => Effect.Effect<Queue.Queue<SessionNews>, never, Scope.Scope>
  }
>()("runplane/control-plane/SessionNewsDesk") {
  static readonly layer = Layer.sync(SessionNewsDesk, () => {
    const desks = new Map<string, Set<Queue.Queue<SessionNews>>>()

    const deliver = (name: string, news: SessionNews) => {
      for (const queue of desks.get(name) ?? []) Queue.offerUnsafe(queue, news)
    }
    const deliverAll = (news: SessionNews) => {
      for (const queue of new Set([...desks.values()].flatMap((queues) => [...queues]))) Queue.offerUnsafe(queue, news)
    }
    const subscribe = Effect.fnUntraced(function* (names: ReadonlySet<string>) {
      const queue = yield* Queue.sliding<SessionNews>(CAPACITY)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          for (const name of names) desks.set(name, (desks.get(name) ?? new Set()).add(queue))
        }),
        () =>
          Effect.sync(() => {
            for (const name of names) {
              const queues = desks.get(name)
              queues?.delete(queue)
              if (queues?.size === 0) desks.delete(name)
            }
          })
      )
      return queue
    })
    return SessionNewsDesk.of({ deliver, deliverAll, isObserved: (name) => desks.has(name), subscribe })
  })
}
