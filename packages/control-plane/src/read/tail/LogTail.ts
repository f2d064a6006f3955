import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { SearchTooSlow } from "../../database/search/SearchBudget.ts"
import { LiveEvents } from "../../log/LiveEvents.ts"
import { Watermark } from "../../log/Watermark.ts"
import type { EventQuery } from "../query/EventQuery.ts"
import { EventSearch } from "../query/EventSearch.ts"
import { makeRereads } from "../stream/FeedWaits.ts"
import { makeTailQueue, type TailBatch, type TailGap, type TailQueue, tailBatch } from "./TailQueue.ts"

/** Events that are read for all subscribers of the same search at a time. */
const EVENTS_PER_READ = 500
/** Between two looks at the log that follow each other: what is committed meanwhile shares a read. Milliseconds. */
const LOOK_INTERVAL_MS = 15
/** After this time the log is looked at although nobody has told of anything: words may get lost. Milliseconds. */
const IDLE_MS = 1_000
/** An append under way holds up what was committed after it, and says nothing when it is rolled back. Milliseconds. */
const HELD_UP_MS = 5
const LONGEST_HELD_UP_MS = 200

export interface TailSubscription {
  readonly take: Effect.Effect<TailBatch | TailGap>
  /** To be called with every item once nothing of it is owed any more. */
  readonly handled: (item: TailBatch | TailGap) => void
  /** The seq up to which the subscriber has had everything, when nothing waits for it; else 0. */
  readonly told: () => number
}

/** Those who follow the same search. */
interface Followers {
  readonly search: EventQuery
  readonly queues: Set<TailQueue>
  readonly wake: Queue.Queue<void>
  /** Up to where they were offered everything; undefined before the first look. */
  at: number | undefined
  /** The end of the last batch. */
  batched: number
  /** Whether other processes have told of commits since the log was last seen to end at the watermark. */
  isUnsure: boolean
}

/**
 * The end of the log, for all who follow it (docs/http.md#log-stream). For each different search one fiber reads what
 * has come, up to the watermark, and offers the same bytes to all who asked for it; however many follow, the database
 * is read once. What the log tells of commits is only a wake-up: the rows are the truth, so nothing is lost or told
 * twice, whoever appends.
 */
export class LogTail extends Context.Service<
  LogTail,
  {
    /**
     * Follows a search from the moment on; `key` is the same for the same search. `afterSeq` and `afterTs` are of no
     * account: the subscriber knows what it has had.
     */
    readonly subscribe: (key: string, search: EventQuery) => Effect.Effect<TailSubscription, never, Scope.Scope>
  }
>()("runplane/control-plane/LogTail") {
  static readonly layer = Layer.effect(
    LogTail,
    Effect.gen(function* () {
      const live = yield* LiveEvents
      const searches = yield* EventSearch
      const watermark = yield* Watermark
      const scope = yield* Effect.scope
      const followed = new Map<string, Followers>()
      const readers = new Map<Followers, Fiber.Fiber<never>>()
      const oneByOne = yield* Semaphore.make(1)
      /** The last seq of what this process has committed. */
      let committed = 0

      yield* live.listen(({ lastSeq }) => {
        committed = Math.max(committed, lastSeq)
        for (const { wake } of followed.values()) Queue.offerUnsafe(wake, undefined)
      })
      yield* live.listenElsewhere(() => {
        for (const followers of followed.values()) {
          followers.isUnsure = true
          Queue.offerUnsafe(followers.wake, undefined)
        }
      })

      /** Reads and offers what is below the watermark; answers whether the log goes on above it. */
      const look = Effect.fnUntraced(function* (followers: Followers) {
        const mark = yield* watermark.now
        const { filter, rest } = followers.search
        let at = followers.at ?? mark
        while (at < mark) {
          const search: EventQuery = { filter: { ...filter, afterSeq: at }, rest, upToSeq: mark }
          const found = yield* searches.page(search, EVENTS_PER_READ)
          at = found.upTo
          if (found.events.length > 0) {
            const batch = tailBatch(followers.batched, at, found.events)
            followers.batched = at
            for (const queue of followers.queues) queue.offer(batch)
          }
          followers.at = at
        }
        followers.at = Math.max(at, mark)
        if (committed > mark) return true
        if (!followers.isUnsure) return false
        followers.isUnsure = false
        followers.isUnsure = yield* searches.isBeyond(mark)
        return followers.isUnsure
      })

      const follow = Effect.fnUntraced(function* (followers: Followers) {
        let heldUp = HELD_UP_MS
        let isHeldUp = false
        const rereads = makeRereads()
        const failed = Effect.fnUntraced(function* (error: SqlError | SearchTooSlow) {
          yield* Effect.logDebug("the end of the log could not be read", error)
          yield* rereads.failed
          yield* Effect.sleep(rereads.at() - (yield* Clock.currentTimeMillis))
          return true
        })
        while (true) {
          const woken = yield* Queue.take(followers.wake).pipe(Effect.timeoutOption(isHeldUp ? heldUp : IDLE_MS))
          heldUp = isHeldUp && Option.isNone(woken) ? Math.min(heldUp * 2, LONGEST_HELD_UP_MS) : HELD_UP_MS
          isHeldUp = yield* look(followers).pipe(Effect.tap(Effect.sync(rereads.succeeded)), Effect.catch(failed))
          yield* Effect.sleep(LOOK_INTERVAL_MS)
        }
      }, Effect.withTracerEnabled(false))

      const join = Effect.fnUntraced(function* (key: string, search: EventQuery, queue: TailQueue) {
        const known = followed.get(key)
        if (known !== undefined) {
          known.queues.add(queue)
          return known
        }
        const wake = yield* Queue.sliding<void>(1)
        const followers: Followers = {
          search,
          queues: new Set([queue]),
          wake,
          at: undefined,
          batched: 0,
          isUnsure: true
        }
        followed.set(key, followers)
        Queue.offerUnsafe(wake, undefined)
        readers.set(followers, yield* Effect.forkIn(follow(followers), scope))
        return followers
      }, oneByOne.withPermits(1))

      const leave = Effect.fnUntraced(function* (key: string, followers: Followers, queue: TailQueue) {
        followers.queues.delete(queue)
        const reader = readers.get(followers)
        if (followers.queues.size > 0 || reader === undefined) return
        followed.delete(key)
        readers.delete(followers)
        yield* Fiber.interrupt(reader)
      }, oneByOne.withPermits(1))

      const subscribe = Effect.fnUntraced(function* (key: string, search: EventQuery) {
        const queue = yield* makeTailQueue
        const followers = yield* Effect.acquireRelease(join(key, search, queue), (joined) => leave(key, joined, queue))
        const told = () => (queue.isEmpty() ? (followers.at ?? 0) : 0)
        return { take: queue.take, handled: queue.handled, told }
      })
      return LogTail.of({ subscribe })
    })
  )
}
