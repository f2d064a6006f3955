import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { AppendError, Appended, AppendRequest } from "./AppendRequest.ts"
import { makeGroupCommit } from "./GroupCommit.ts"

/** Appends waiting for a writer; a full queue makes the callers wait. */
export const PENDING_APPENDS = 1024
/** Most frames and most requests that share one transaction. */
export const GROUP_FRAMES = 1000
export const GROUP_REQUESTS = 64
/** Transactions in flight: one commits while the next is being normalised. */
export const WRITERS = 2

interface Pending {
  readonly request: AppendRequest
  readonly done: Deferred.Deferred<Appended, AppendError>
}

/**
 * The one way into the log (design, "The way of the data"). An append is atomic: raw and canonical events, projection, metrics,
 * messages, status and stream cursor commit together or not at all, and subscribers hear of it only afterwards.
 *
 * Appends that wait at the same time share a transaction (group commit), whichever runs they belong to: many quiet runs cost
 * about as much as one busy one. A request that is refused (unknown run, lost cursor, forbidden transition) leaves the
 * others untouched. What a transaction that fails means for its requests is told in `GroupCommit.ts`.
 */
export class EventLog extends Context.Service<
  EventLog,
  {
    readonly append: (request: AppendRequest) => Effect.Effect<Appended, AppendError>
  }
>()("runplane/control-plane/EventLog") {
  static readonly layerNoDeps = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const commit = yield* makeGroupCommit
      const pending = yield* Queue.bounded<Pending>(PENDING_APPENDS)

      const write = Effect.gen(function* () {
        const group = yield* takeGroup(pending)
        const waiting = new Map(group.map(({ done, request }) => [request, done]))
        yield* commit([...waiting.keys()], (request, outcome) => {
          const done = waiting.get(request)
          return done === undefined ? Effect.void : Deferred.done(done, outcome)
        })
      })
      for (let writer = 0; writer < WRITERS; writer++) yield* Effect.forkScoped(Effect.forever(write))

      const append = Effect.fnUntraced(function* (request: AppendRequest) {
        const done = yield* Deferred.make<Appended, AppendError>()
        // A copy: outcomes are told apart by the request, and a caller may well hand the same one in twice.
        yield* Queue.offer(pending, { request: { ...request }, done })
        return yield* Deferred.await(done)
      })
      return EventLog.of({ append })
    })
  )
}

/** Waits for one append and takes what waits behind it, up to the bounds of a group. */
const takeGroup = Effect.fnUntraced(function* (pending: Queue.Queue<Pending>) {
  const group = [yield* Queue.take(pending)]
  let frames = group[0]?.request.frames?.length ?? 0
  while (group.length < GROUP_REQUESTS && frames < GROUP_FRAMES && Queue.sizeUnsafe(pending) > 0) {
    const next = yield* Queue.take(pending)
    group.push(next)
    frames += next.request.frames?.length ?? 0
  }
  return group
})
