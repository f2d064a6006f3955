import { ControlPlaneSettings, makeFairTurns, readSetting } from "@runplane/server"
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
import { LiveEvents } from "../../event-log/subscribe/LiveEvents.ts"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { streamReadsAt } from "../../platform/postgres/PoolUse.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import type { SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { type EventQuery, typesOf } from "../../queries/query/EventQuery.ts"
import { EventSearch } from "../../queries/query/EventSearch.ts"
import { makeRereads } from "../run/FeedWaits.ts"
import { STREAM_PAGE_BYTES } from "../run/StreamSlots.ts"
import { LogWakeup } from "./LogWakeup.ts"
import { OwnCommits, piecesOf } from "./OwnCommits.ts"
import { framesOf, RingBuffer, type TailFrames, WINDOWS_BYTES } from "./RingBuffer.ts"
import type { TailSources } from "./TailFeed.ts"

/** Events that are read at a time, for all followers of a search or for one that is behind. */
export const TAIL_PAGE = 500
/**
 * Between two looks at the log that follow each other: what is committed meanwhile shares a read, and a write to each
 * follower. Milliseconds, at least, for each follower, and at most.
 */
const REST_MS = { least: 4, perFollower: 0.05, most: 100 }
/** After this time the log is looked at although nobody has told of anything: words may get lost. Milliseconds. */
const IDLE_MS = 1_000
/** An append under way holds up what was committed after it, and says nothing when it is rolled back. Milliseconds. */
const HELD_UP_MS = 5
const LONGEST_HELD_UP_MS = 200

export type TailSubscription = Pick<TailSources, "news" | "read" | "window">

/** Those who follow the same search. */
interface Followers {
  readonly search: EventQuery
  readonly window: RingBuffer
  readonly news: Set<LogWakeup>
  readonly wake: Queue.Queue<void>
  /** The types that are asked for, and what of them is known without the database; undefined where it has to judge. */
  readonly own: { readonly types: ReadonlyArray<string>; readonly commits: OwnCommits } | undefined
  /** Whether other processes have told of commits since the log was last seen to end at the watermark. */
  isUnsure: boolean
}

/**
 * The end of the log, for all who follow it (docs/reference/http.md#log-stream). For each different search one fiber
 * reads what has come, up to the watermark, into a window that all who asked for it are sent the same bytes from;
 * however many follow, the database is read once. What this process has committed itself is taken as it is where nobody
 * else can have a place before it; else what the log tells of commits is only a wake-up, and the rows are the truth. So
 * nothing is lost or told twice, whoever appends.
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
      const poolMax = yield* readSetting(ControlPlaneSettings.DB_POOL_MAX)
      const scope = yield* Effect.scope
      const followed = new Map<string, Followers>()
      const readers = new Map<Followers, Fiber.Fiber<never>>()
      const oneByOne = yield* Semaphore.make(1)
      // Those who are behind do not keep the ones who are not.
      const looks = makeFairTurns("looks at the log", streamReadsAt(poolMax))
      const pages = makeFairTurns("pages of the log", streamReadsAt(poolMax))
      /** The last seq of what this process has committed. */
      let committed = 0

      yield* live.listenToCommits((commit) => {
        committed = Math.max(committed, commit.events.at(-1)?.seq ?? 0)
        if (followed.size === 0) return
        const pieces = piecesOf(commit)
        for (const { own, wake } of followed.values()) {
          own?.commits.add(pieces)
          Queue.offerUnsafe(wake, undefined)
        }
      })
      yield* live.listenElsewhere(() => {
        for (const followers of followed.values()) {
          followers.isUnsure = true
          Queue.offerUnsafe(followers.wake, undefined)
        }
      })

      const mostBytes = () => Math.floor(WINDOWS_BYTES / Math.max(1, followed.size))

      /** What this process has committed needs no read; answers whether it was something. */
      const takeOwn = (followers: Followers): boolean => {
        const { own, window } = followers
        let isAny = false
        let next = own?.commits.takeBehind(window.end)
        while (own !== undefined && next !== undefined) {
          const { events, upTo } = next
          const matches = own.types.length === 0 ? events : events.filter(({ type }) => own.types.includes(type))
          window.push(upTo, matches, mostBytes())
          if (matches.length > 0) tell(followers)
          isAny = true
          next = own.commits.takeBehind(window.end)
        }
        return isAny
      }

      const endOf = (followers: Followers) => {
        // What has been read may be what stood before.
        takeOwn(followers)
        return committed > followers.window.end ? "above" : followers.window.end
      }

      /** Reads for those who follow everything. */
      const readAll = Effect.fnUntraced(function* (followers: Followers) {
        const { window } = followers
        while (true) {
          const { events, isEnd, upTo } = yield* looks.goOn(searches.endOfLog(window.end, TAIL_PAGE))
          window.push(upTo, events, mostBytes())
          if (events.length > 0) tell(followers)
          if (isEnd) return endOf(followers)
        }
      })

      /** Brings what is below the watermark into the window; answers where the log has been seen to end, or goes on. */
      const look = Effect.fnUntraced(function* (followers: Followers) {
        const { isUnsure, own, search, window } = followers
        if (window.start !== undefined && takeOwn(followers) && !isUnsure) return endOf(followers)
        if (window.start !== undefined && own?.types.length === 0) return yield* readAll(followers)
        const mark = yield* watermark.now
        if (window.start === undefined) {
          window.begin(mark)
          tell(followers)
        }
        while (window.end < mark) {
          const from = { ...search, filter: { ...search.filter, afterSeq: window.end }, upToSeq: mark }
          const { events, upTo } = yield* looks.goOn(searches.page(from, TAIL_PAGE))
          window.push(upTo, events, mostBytes())
          if (events.length > 0) tell(followers)
        }
        return endOf(followers)
      })

      /** The log may have been restored from a backup: events of the window beyond its end are not part of it. */
      const restartIfRestored = Effect.fnUntraced(function* (followers: Followers) {
        const { own, window } = followers
        const isBeyond = Effect.map(watermark.lastPlace, (last) => last < window.end)
        // A read that was shared may have begun before the window got there; the next has not.
        if (!((yield* isBeyond) && (yield* isBeyond))) return
        own?.commits.forget()
        committed = 0
        window.restart()
        tell(followers)
      })

      /** Whether events are held up that the window is waiting for. */
      const isHeldUpBehind = Effect.fnUntraced(function* (followers: Followers, isIdle: boolean) {
        if (isIdle) yield* restartIfRestored(followers)
        const looked = yield* look(followers)
        if (looked === "above") return true
        if (!followers.isUnsure) return false
        followers.isUnsure = false
        followers.isUnsure = yield* searches.isBeyond(looked)
        return followers.isUnsure
      })

      const readOlder = yield* shareReads(
        Effect.fnUntraced(function* ({ afterSeq, search, window }: OlderPage) {
          const from = { ...search, filter: { ...search.filter, afterSeq }, upToSeq: window.start }
          const { events, upTo } = yield* searches.page(from, TAIL_PAGE, STREAM_PAGE_BYTES)
          const page: TailFrames = { upTo, frames: events.length === 0 ? [] : [framesOf(events).frames] }
          return page
        }, pages.goOn),
        ({ afterSeq, key }) => `${afterSeq} ${key}`
      )

      const follow = Effect.fnUntraced(function* (followers: Followers) {
        let heldUp = HELD_UP_MS
        let isHeldUp = false
        const rereads = makeRereads()
        const failed = Effect.fnUntraced(function* (error: SqlError | SearchFailure) {
          yield* Effect.logDebug("the end of the log could not be read", error)
          yield* rereads.failed
          yield* Effect.sleep(rereads.at() - (yield* Clock.currentTimeMillis))
          return true
        })
        while (true) {
          const woken: Option.Option<void> = yield* Queue.take(followers.wake).pipe(
            Effect.timeoutOption(isHeldUp ? heldUp : IDLE_MS)
          )
          heldUp = isHeldUp && Option.isNone(woken) ? Math.min(heldUp * 2, LONGEST_HELD_UP_MS) : HELD_UP_MS
          isHeldUp = yield* isHeldUpBehind(followers, Option.isNone(woken) && !isHeldUp).pipe(
            Effect.tap(Effect.sync(rereads.succeeded)),
            Effect.catch(failed)
          )
          yield* Effect.sleep(restOf(followers))
        }
      }, Effect.withTracerEnabled(false))

      const join = Effect.fnUntraced(function* (key: string, search: EventQuery, news: LogWakeup) {
        const known = followed.get(key)
        if (known !== undefined) {
          known.news.add(news)
          return known
        }
        const wake = yield* Queue.sliding<void>(1)
        const window = new RingBuffer()
        const types = typesOf(search)
        const own = types && { types, commits: new OwnCommits() }
        const followers: Followers = { search, window, news: new Set([news]), wake, own, isUnsure: true }
        followed.set(key, followers)
        for (const other of followed.values()) other.window.trim(mostBytes())
        Queue.offerUnsafe(wake, undefined)
        readers.set(followers, yield* Effect.forkIn(follow(followers), scope))
        return followers
      }, oneByOne.withPermits(1))

      const leave = Effect.fnUntraced(function* (key: string, followers: Followers, news: LogWakeup) {
        followers.news.delete(news)
        const reader = readers.get(followers)
        if (followers.news.size > 0 || reader === undefined) return
        followed.delete(key)
        readers.delete(followers)
        yield* Fiber.interrupt(reader)
      }, oneByOne.withPermits(1))

      const subscribe = Effect.fnUntraced(function* (key: string, search: EventQuery) {
        const news = new LogWakeup()
        const { window } = yield* Effect.acquireRelease(join(key, search, news), (joined) => leave(key, joined, news))
        return { window, news, read: (afterSeq: number) => readOlder({ key, search, window, afterSeq }) }
      })
      return LogTail.of({ subscribe })
    })
  )
}

interface OlderPage {
  readonly key: string
  readonly search: EventQuery
  readonly window: RingBuffer
  readonly afterSeq: number
}

const restOf = ({ news }: Pick<Followers, "news">): number =>
  Math.min(Math.max(REST_MS.least, news.size * REST_MS.perFollower), REST_MS.most)

const tell = ({ news }: Pick<Followers, "news">) => {
  for (const one of news) one.tell()
}
