import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { SearchTooSlow } from "../../database/search/SearchBudget.ts"
import { canonicalEventFrame } from "../../log/LiveEvents.ts"
import type { EventQuery } from "../query/EventQuery.ts"
import type { EventSearch } from "../query/EventSearch.ts"
import { makeRereads, makeTakeWithin } from "../stream/FeedWaits.ts"
import type { TailSubscription } from "./LogTail.ts"
import type { TailBatch } from "./TailQueue.ts"

/** Events read from the database at a time: what one slow reader holds in memory, at most a few MB. */
export const TAIL_PAGE = 500

export interface TailOptions {
  /** What is followed; its `afterSeq` is of no account. */
  readonly search: EventQuery
  /** Events behind this seq are sent. */
  readonly afterSeq: number
  readonly heartbeatMs: number
}

const encoder = new TextEncoder()

/**
 * What one client of `GET /events/stream` is sent next (docs/http.md#log-stream): an effect that answers the next
 * bytes. It is asked only when the bytes before have been taken, so a slow client holds one page, and the rest waits in
 * the database.
 *
 * The feed knows the seq up to which its client has had every match. A batch that begins there or before goes out, less
 * what was sent already; one that begins behind it, or word of a gap, makes the feed read the database from where it
 * stands. That is the whole hand-over: neither gap nor repeat needs any timing.
 */
export const makeTailFeed = Effect.fnUntraced(function* (
  { afterSeq, heartbeatMs, search }: TailOptions,
  searches: EventSearch["Service"],
  subscription: TailSubscription
): Effect.fn.Return<Effect.Effect<Uint8Array>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let seq = afterSeq
  let isReading = true
  let nextBeat = yield* Clock.currentTimeMillis
  const rereads = makeRereads()
  const takeWithin = makeTakeWithin(subscription.take, scope)

  const unreadable = Effect.fnUntraced(function* (error: SqlError | SearchTooSlow) {
    yield* Effect.logDebug("a stream of the log waits for the database", error)
    yield* rereads.failed
    return undefined
  })

  const readPage = Effect.fnUntraced(function* () {
    const from = { ...search, filter: { ...search.filter, afterSeq: seq } }
    const { events, isEnd, upTo } = yield* searches.page(from, TAIL_PAGE)
    rereads.succeeded()
    if (isEnd) isReading = false
    seq = Math.max(seq, upTo)
    return events.length === 0 ? undefined : encoder.encode(events.map(canonicalEventFrame).join(""))
  })

  const deliver = (batch: TailBatch): Uint8Array | undefined => {
    if (batch.upTo <= seq) return undefined
    if (batch.after > seq) {
      isReading = true
      return undefined
    }
    const sent = seq
    seq = batch.upTo
    const first = batch.events[0]
    if (first === undefined || first.seq > sent) return batch.frames()
    const rest = batch.events.filter((event) => event.seq > sent)
    return rest.length === 0 ? undefined : encoder.encode(rest.map(canonicalEventFrame).join(""))
  }

  const heartbeat = (now: number) => {
    if (!isReading) seq = Math.max(seq, subscription.told())
    nextBeat = now + heartbeatMs
    const data = JSON.stringify({ ts: new Date(now).toISOString(), seq })
    return encoder.encode(`event: heartbeat\nid: ${seq}\ndata: ${data}\n\n`)
  }

  const step = Effect.fnUntraced(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now >= nextBeat) return heartbeat(now)
    if (isReading) {
      if (now >= rereads.at()) return yield* Effect.catch(readPage(), unreadable)
      yield* Effect.sleep(Math.min(rereads.at(), nextBeat) - now)
      return undefined
    }
    const item = yield* takeWithin(nextBeat - now)
    if (item === undefined) return undefined
    const bytes = item._tag === "Batch" ? deliver(item) : undefined
    if (item._tag === "Gap") isReading = true
    subscription.handled(item)
    return bytes
  })

  return Effect.gen(function* () {
    while (true) {
      const bytes = yield* step()
      if (bytes !== undefined) return bytes
    }
  })
})
