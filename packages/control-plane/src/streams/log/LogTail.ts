import { streamReadsAt } from "@runplane/database"
import { ControlPlaneSettings, makeFairTurns, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { ErasedRuns } from "../../event-log/ErasedRuns.ts"
import { LiveEvents } from "../../event-log/subscribe/LiveEvents.ts"
import { Wakeup } from "../../event-log/subscribe/Wakeup.ts"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import type { SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { type EventQuery, matchesAll } from "../../queries/query/EventQuery.ts"
import { EventSearch, type FoundEvents } from "../../queries/query/EventSearch.ts"
import { STREAM_PAGE_BYTES } from "../StreamSlots.ts"
import { BUFFER_BYTES, type BufferedFrames, framesOf, RingBuffer } from "./RingBuffer.ts"

/** Events of a read, for all subscribers of a search or for one that is behind. */
const TAIL_PAGE = 500
/**
 * Pause between two reads of the end of the log, so that commits share a read and a write; per subscriber.
 * Milliseconds.
 */
const PAUSE_MS = { least: 4, perSubscriber: 0.05, most: 100 }
/** The end of the log is read at least this often, because notifications may be lost. Milliseconds. */
const IDLE_MS = 1_000
/** An open transaction delays later commits, and sends no notification when it is rolled back. Milliseconds. */
const DELAYED_MS = 5
const LONGEST_DELAYED_MS = 200

/** The pauses while the database is away. Milliseconds. */
const RETRIES = { firstMs: 100, longestMs: 2_000 }

/** The end of the log for one subscriber. */
export interface TailSubscription {
  readonly buffer: Pick<RingBuffer, "behind" | "end" | "restores" | "start">
  /** Wakes when the buffer has changed. */
  readonly wakeup: Wakeup
  /** The next page of the database behind a seq, up to the start of the buffer. */
  readonly readPage: (afterSeq: number) => Effect.Effect<BufferedFrames, SqlError | SearchFailure>
}

/** The subscribers of one search. */
interface Subscribers {
  readonly search: EventQuery
  readonly buffer: RingBuffer
  readonly wakeups: Set<Wakeup>
  /** Wakes the fiber that reads for them. */
  readonly notified: Queue.Queue<void>
  /** Whether another process has committed since the last read reached the watermark. */
  hasOtherCommits: boolean
}

/**
 * The end of the log for all its streams (docs/reference/streams.md#log-stream). For each search one fiber reads new
 * events, up to the watermark, into a ring buffer whose frames all subscribers share; so the number of subscribers does
 * not change the number of reads. A notification of a commit only wakes the fiber, and the rows are the truth: no event
 * is lost or sent twice, whatever process appends.
 */
export class LogTail extends Context.Service<
  LogTail,
  {
    /**
     * Subscribes to the events behind the current watermark that match. The search has no `afterSeq` or `afterTs`,
     * because the subscriber knows its position.
     */
    readonly subscribe: (search: EventQuery) => Effect.Effect<TailSubscription, never, Scope.Scope>
  }
>()("runplane/control-plane/LogTail") {
  static readonly layer = Layer.effect(
    LogTail,
    Effect.gen(function* () {
      const live = yield* LiveEvents
      const searches = yield* EventSearch
      const watermark = yield* Watermark
      const poolMax = yield* readSetting(ControlPlaneSettings.DB_POOL_MAX)
      const all = new Set<Subscribers>()
      // Subscribers that are behind do not delay the others.
      const tailReads = makeFairTurns("the end of the log", streamReadsAt(poolMax))
      const pageReads = makeFairTurns("pages of the log", streamReadsAt(poolMax))
      /** The last seq that this process has committed. */
      let committed = 0

      const notify = (isOther: boolean) => {
        for (const subscribers of all) {
          if (isOther) subscribers.hasOtherCommits = true
          Queue.offerUnsafe(subscribers.notified, undefined)
        }
      }
      yield* live.listen((batch) => {
        committed = Math.max(committed, batch.lastSeq)
        notify(false)
      })
      // The text of an erased event can be in any part; subscribers that are behind read the database.
      const forgetTexts = () => {
        for (const { buffer } of all) buffer.trim(0)
      }
      yield* (yield* ErasedRuns).listen(forgetTexts)
      yield* live.listenElsewhere((commit) => {
        // Messages of other processes were lost, perhaps one of an erasure.
        if (commit === "anything") forgetTexts()
        notify(true)
      })

      const capacity = () => Math.floor(BUFFER_BYTES / Math.max(1, all.size))

      /** Fills the buffer up to the watermark. */
      const fill = Effect.fnUntraced(function* (subscribers: Subscribers) {
        const { buffer, search } = subscribers
        // Without conditions, one statement reads the watermark and the events.
        const isAll = matchesAll(search) && buffer.start !== undefined
        const mark = isAll ? Number.POSITIVE_INFINITY : yield* watermark.now
        if (buffer.start === undefined) {
          buffer.begin(mark)
          wakeAll(subscribers)
        }
        while (buffer.end < mark) {
          const from = { ...search, filter: { ...search.filter, afterSeq: buffer.end }, upToSeq: mark }
          const next = isAll ? searches.endOfLog(buffer.end, TAIL_PAGE) : searches.page(from, TAIL_PAGE)
          const { events, isEnd, upTo } = yield* tailReads.goOn<FoundEvents, SqlError | SearchFailure, never>(next)
          buffer.push(upTo, events, capacity())
          if (events.length > 0) wakeAll(subscribers)
          if (isAll && isEnd) return
        }
      })

      /** Empties the buffer when the log ends before it, because the database was restored from a backup. */
      const emptyIfRestored = Effect.fnUntraced(function* (subscribers: Subscribers) {
        const { buffer } = subscribers
        const isBefore = Effect.map(watermark.lastSeq, (last) => last < buffer.end)
        // A shared read may have begun before the last push; the second one has not.
        if (!((yield* isBefore) && (yield* isBefore))) return
        committed = 0
        buffer.empty()
        wakeAll(subscribers)
      })

      /** Fills the buffer, and returns whether commits above the watermark wait for an open transaction. */
      const update = Effect.fnUntraced(function* (subscribers: Subscribers, isIdle: boolean) {
        const { buffer } = subscribers
        if (isIdle) yield* emptyIfRestored(subscribers)
        yield* fill(subscribers)
        if (committed > buffer.end) return true
        if (!subscribers.hasOtherCommits) return false
        subscribers.hasOtherCommits = false
        subscribers.hasOtherCommits = yield* searches.isBeyond(buffer.end)
        return subscribers.hasOtherCommits
      })

      const readPage = yield* shareReads(
        Effect.fnUntraced(function* ({ afterSeq, buffer, search }: PageQuery) {
          const from = { ...search, filter: { ...search.filter, afterSeq }, upToSeq: buffer.start }
          const { events, upTo } = yield* searches.page(from, TAIL_PAGE, STREAM_PAGE_BYTES)
          const page: BufferedFrames = { upTo, frames: events.length === 0 ? [] : [framesOf(events).frames] }
          return page
        }, pageReads.goOn),
        ({ afterSeq, search }) => `${afterSeq} ${JSON.stringify(search)}`
      )

      const readFor = Effect.fnUntraced(function* (subscribers: Subscribers) {
        const { notified, wakeups } = subscribers
        let delay = DELAYED_MS
        let isDelayed = false
        let isNotified = false
        const wake = Effect.tap(Queue.take(notified), () => Effect.sync(() => (isNotified = true)))
        const round = Effect.gen(function* () {
          const isTimeout = !isNotified
          isNotified = false
          delay = isDelayed && isTimeout ? Math.min(delay * 2, LONGEST_DELAYED_MS) : DELAYED_MS
          isDelayed = yield* update(subscribers, isTimeout && !isDelayed)
          yield* Effect.sleep(Math.min(Math.max(PAUSE_MS.least, wakeups.size * PAUSE_MS.perSubscriber), PAUSE_MS.most))
          return { pauseMs: isDelayed ? delay : IDLE_MS }
        })
        yield* Effect.forkScoped(forever("log-tails", round, { wake, first: IDLE_MS, backoff: RETRIES }))
      }, Effect.withTracerEnabled(false))

      /** The subscribers of a search, with the fiber that reads for them; both end with the last subscriber. */
      const open = Effect.fnUntraced(function* (search: EventQuery) {
        const notified = yield* Queue.sliding<void>(1)
        const buffer = new RingBuffer()
        const subscribers: Subscribers = { search, buffer, wakeups: new Set(), notified, hasOtherCommits: true }
        yield* Effect.acquireRelease(
          Effect.sync(() => all.add(subscribers)),
          () => Effect.sync(() => all.delete(subscribers))
        )
        for (const other of all) other.buffer.trim(capacity())
        Queue.offerUnsafe(notified, undefined)
        yield* readFor(subscribers)
        return subscribers
      })
      const bySearch = yield* RcMap.make({ lookup: open })

      const subscribe = Effect.fnUntraced(function* (search: EventQuery) {
        const { buffer, wakeups } = yield* RcMap.get(bySearch, search)
        const wakeup = new Wakeup()
        yield* Effect.acquireRelease(
          Effect.sync(() => wakeups.add(wakeup)),
          () => Effect.sync(() => wakeups.delete(wakeup))
        )
        return { buffer, wakeup, readPage: (afterSeq: number) => readPage({ search, buffer, afterSeq }) }
      })
      return LogTail.of({ subscribe })
    })
  )
}

interface PageQuery {
  readonly search: EventQuery
  readonly buffer: RingBuffer
  readonly afterSeq: number
}

const wakeAll = ({ wakeups }: Pick<Subscribers, "wakeups">) => {
  for (const wakeup of wakeups) if (!wakeup.offer(undefined)) wakeup.wake()
}
