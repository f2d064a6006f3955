import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { SharedFrames } from "../../platform/http/SharedFrames.ts"
import type { SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { makeRereads } from "../run/FeedWaits.ts"
import type { StreamClient } from "../run/StreamClient.ts"
import type { LogWakeup } from "./LogWakeup.ts"
import type { RingBuffer, TailFrames } from "./RingBuffer.ts"

/** What a feed takes its frames from. */
export interface TailSources {
  /** The end of the log, in memory. */
  readonly window: Pick<RingBuffer, "behind" | "end" | "restarts" | "start">
  /** What is older: the next page of the database behind a seq. */
  readonly read: (afterSeq: number) => Effect.Effect<TailFrames, SqlError | SearchFailure>
  /** Told by whoever has something to tell: the window, the end of the service. */
  readonly news: LogWakeup
  /** Ends when the stream has to end. */
  readonly ended: Effect.Effect<void>
  readonly client: StreamClient
}

export interface TailOptions {
  /** Events behind this seq are sent. */
  readonly afterSeq: number
  /** The client's cursor, when the log ends before it; the stream then starts with a reset to `afterSeq`. */
  readonly resetFrom?: number
  readonly heartbeatMs: number
}

type Frames = Arr.NonEmptyReadonlyArray<Uint8Array>

const encoder = new TextEncoder()

/**
 * What one client of `GET /events/stream` is sent next (docs/reference/http.md#log-stream): an effect that answers the
 * next bytes. It is asked only when the bytes before have been taken, so a slow client holds what it was handed last,
 * and the rest waits in the window that all share, or in the database.
 *
 * The feed knows the seq up to which its client has had every match. The window says what comes behind it, or that it
 * does not know any more, and then the database is read from there until the window knows. That is the whole
 * hand-over: neither gap nor repeat needs any timing.
 *
 * While the feed waits, what comes is handed on by whoever brings it, to a client that can take it at once
 * (docs/reference/http.md#one-write): nobody is woken then.
 */
export const makeTailFeed = Effect.fnUntraced(function* (
  { afterSeq, heartbeatMs, resetFrom }: TailOptions,
  { client, ended, news, read, window }: TailSources
): Effect.fn.Return<Effect.Effect<Frames, Cause.Done>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  let seq = afterSeq
  /** A reset that the client has not been sent. */
  let owedReset = resetFrom
  let restarts = window.restarts
  let isOver = false
  let nextBeat = clock.currentTimeMillisUnsafe()
  const rereads = makeRereads()

  const unreadable = Effect.fnUntraced(function* (error: SqlError | SearchFailure) {
    yield* Effect.logDebug("a stream of the log waits for the database", error)
    yield* rereads.failed
  })

  const readPage = Effect.fnUntraced(function* () {
    const { frames, upTo } = yield* read(seq)
    // A database that was put back to an earlier time has nothing to say for a while.
    if (upTo > seq) rereads.succeeded()
    else yield* rereads.failed
    seq = Math.max(seq, upTo)
    return frames
  })

  /** Nothing, when the database is away, or what it has is long in coming. */
  const older = Effect.fnUntraced(function* (now: number) {
    const wait = Math.min(rereads.at(), nextBeat) - now
    if (wait > 0 && now < rereads.at()) yield* Effect.raceFirst(Effect.sleep(wait), ended)
    else return yield* Effect.raceFirst(Effect.catch(readPage(), unreadable), ended)
  })

  const heartbeat = (now: number) => {
    const known = window.behind(seq)
    if (known?.frames.length === 0) seq = Math.max(seq, known.upTo)
    nextBeat = now + heartbeatMs
    const data = JSON.stringify({ ts: new Date(now).toISOString(), seq })
    return encoder.encode(`event: heartbeat\nid: ${seq}\ndata: ${data}\n\n`)
  }

  /** Begins again at the end of a restored log (docs/reference/http.md#reset). */
  const reset = (now: number, from: number) => {
    owedReset = undefined
    nextBeat = now
    const data = JSON.stringify({ ts: new Date(now).toISOString(), seq, afterSeq: from })
    return encoder.encode(`event: reset\nid: ${seq}\ndata: ${data}\n\n`)
  }
  /** Whether the log was restored while the client followed it; nothing is sent before its end is known. */
  const isRestarted = () => window.restarts !== restarts
  const restart = () => {
    restarts = window.restarts
    owedReset = seq
    seq = window.end
  }

  // Beside the feed: a clock for every wait would cost more than the frames.
  yield* Effect.forkIn(
    Effect.gen(function* () {
      while (true) {
        const wait = nextBeat - clock.currentTimeMillisUnsafe()
        yield* Effect.sleep(wait > 0 ? wait : heartbeatMs)
        news.wake()
      }
    }),
    scope
  )
  yield* Effect.forkIn(
    Effect.andThen(
      ended,
      Effect.sync(() => {
        isOver = true
        news.wake()
      })
    ),
    scope
  )

  /** Run for every client at every commit; answers whether the client has all that there is. */
  const tryDeliver = (): boolean => {
    const known = isOver || isRestarted() ? undefined : window.behind(seq)
    if (known === undefined || known.frames.length > 1) return false
    const [frames] = known.frames
    if (frames !== undefined && !client.take(frames)) return false
    seq = Math.max(seq, known.upTo)
    return seq >= window.end
  }

  // Without a generator: it is run at every commit for a client that is slow.
  const next: Effect.Effect<Frames, Cause.Done> = Effect.suspend(() => {
    if (isOver) return Cause.done()
    news.clear()
    const now = clock.currentTimeMillisUnsafe()
    if (isRestarted()) {
      if (window.start === undefined) return Effect.andThen(news.wait(tryDeliver), next)
      restart()
    }
    if (owedReset !== undefined) return Effect.succeed([reset(now, owedReset)])
    if (now >= nextBeat) return Effect.succeed([heartbeat(now)])
    const known = window.behind(seq)
    if (known === undefined) return Effect.flatMap(older(now), (frames) => given(frames ?? []))
    seq = Math.max(seq, known.upTo)
    if (known.frames.length === 0 && seq >= window.end) return Effect.andThen(news.wait(tryDeliver), next)
    return given(known.frames)
  })
  const given = (frames: ReadonlyArray<SharedFrames>) => {
    const bytes = frames.map((shared) => shared.bytes)
    return Arr.isReadonlyArrayNonEmpty(bytes) ? Effect.succeed(bytes) : next
  }
  return next
})
