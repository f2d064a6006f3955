import type { LogStreamQuery } from "@runplane/api"
import { eventQueryFields } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import { ControlPlaneSettings, readSetting, retryHint, Shutdown } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { type EventQuery, eventQueryOf } from "../../queries/query/EventQuery.ts"
import type { Delivery } from "../Delivery.ts"
import { type FollowerSource, follow, retried } from "../FollowerLoop.ts"
import { type Input, type LiveInput, openLog, type State } from "../FollowerState.ts"
import { type SseConnection, writeShared } from "../SseConnection.ts"
import { sseBytes } from "../SseFrames.ts"
import { retries } from "../StreamReads.ts"
import { LogTail, type TailSubscription } from "./LogTail.ts"

/**
 * The SSE frames of the whole log as bytes (docs/reference/streams.md#log-stream). A stream ends on shutdown, or with
 * its client.
 */
export class LogStream extends Context.Service<
  LogStream,
  {
    /**
     * `afterSeq` undefined starts with the next event. The headers are flushed as soon as the stream has its position;
     * the bytes are those that were not written to the socket directly.
     */
    readonly open: (
      query: LogStreamQuery,
      afterSeq: number | undefined,
      connection: SseConnection
    ) => Stream.Stream<Uint8Array>
  }
>()("runplane/control-plane/LogStream") {
  static readonly layer = Layer.effect(
    LogStream,
    Effect.gen(function* () {
      const tail = yield* LogTail
      const watermark = yield* Watermark
      const shutdown = yield* Shutdown
      const defaultHeartbeatMs = yield* readSetting(ControlPlaneSettings.STREAM_SSE_HEARTBEAT_MS)

      /**
       * The cursor, or the end of the log without one or when the cursor is beyond it
       * (docs/reference/streams.md#reset).
       */
      const startOf = Effect.fnUntraced(function* (afterSeq: number | undefined) {
        if (afterSeq === undefined) return { afterSeq: yield* watermark.now }
        // A shared read may have begun before the client's last event was committed; the second one has not.
        const isBeyond = Effect.map(watermark.lastSeq, (last) => last < afterSeq)
        if ((yield* isBeyond) && (yield* isBeyond)) return { afterSeq: yield* watermark.now, resetFrom: afterSeq }
        return { afterSeq }
      })

      const frames = Effect.fnUntraced(function* (
        query: LogStreamQuery,
        afterSeq: number | undefined,
        connection: SseConnection
      ) {
        const subscription = yield* tail.subscribe(searchOf(query, yield* Clock.currentTimeMillis))
        // The response has begun, so the stream waits for a database that is away.
        const start = yield* Effect.raceFirst(Effect.orDie(Effect.retry(startOf(afterSeq), retries)), shutdown.begun)
        if (start === undefined) return Stream.empty
        yield* connection.flushHeaders
        const options = { ...start, heartbeatMs: query.heartbeatMs ?? defaultHeartbeatMs }
        const state = openLog(options, yield* Clock.currentTimeMillis, subscription.buffer.restores)
        const read = readFor(connection)
        const readPage: TailSubscription["readPage"] = (from) => read(subscription.readPage(from))
        const source = logSource({ ...subscription, readPage }, shutdown.begun)
        // Only a run can be deleted.
        const deliveries = Stream.orDie(
          Stream.fromPull(Effect.succeed(yield* follow(state, source, writeShared(connection))))
        )
        return Stream.map(deliveries, sseBytes)
      })
      const open = (query: LogStreamQuery, afterSeq: number | undefined, connection: SseConnection) =>
        Stream.concat(Stream.unwrap(frames(query, afterSeq, connection)), retryHint(shutdown))
      return LogStream.of({ open })
    })
  )
}

/** The log as the source of a stream: its ring buffer, and older pages of the database. */
export const logSource = (
  { buffer, readPage, wakeup }: TailSubscription,
  ended: Effect.Effect<void>
): FollowerSource<never> => {
  const take = ({ restores, seq }: State): LiveInput | undefined => {
    if (buffer.restores !== restores) {
      return buffer.start === undefined ? undefined : { _tag: "Restored", seq: buffer.end, restores: buffer.restores }
    }
    const found = buffer.behind(seq)
    if (found === undefined) return { _tag: "Gap" }
    if (found.frames.length === 0 && found.upTo <= seq) return undefined
    return { _tag: "Frames", frames: found.frames, seq: found.upTo }
  }
  const page = Effect.fnUntraced(function* ({ index, restores, seq }: State): Effect.fn.Return<Input, PageError> {
    const none = { _tag: "Page", deliveries: [], seq, index, isLast: true } as const
    if (buffer.restores !== restores) return none
    const { frames, upTo } = yield* readPage(seq)
    if (upTo > seq) {
      const deliveries = frames.map((each): Delivery => ({ _tag: "Encoded", frames: each }))
      return { ...none, deliveries, seq: upTo, isLast: upTo >= (buffer.start ?? 0) }
    }
    // A database that was restored from a backup returns nothing for a while.
    return { _tag: "Failed", now: yield* Clock.currentTimeMillis, jitter: yield* Random.next }
  })
  return {
    wakeup,
    take,
    read: (state, read) =>
      read._tag === "ReadPage"
        ? retried(page(state))
        : Effect.sync(() => ({ _tag: "Head", head: headOf(state, take) })),
    audience: () => 1,
    ended
  }
}

type PageError = Effect.Error<ReturnType<TailSubscription["readPage"]>>

/** The seq that a heartbeat names: the end of the buffer when the client has every match before it. */
const headOf = (state: State, take: (state: State) => LiveInput | undefined) => {
  const input = take(state)
  const isQuiet = input?._tag === "Frames" && input.frames.length === 0
  return { lastSeq: isQuiet ? input.seq : state.seq, lastIndex: 0 }
}

const MINUTE_MS = 60_000

/**
 * Equal for equal searches: the order of types and repeated types do not change a search. Relative times are as of the
 * minute, so that streams with them share a read too.
 */
const searchOf = ({ q, types }: LogStreamQuery, nowMs: number): EventQuery => {
  const filter = { afterSeq: 0, types: [...new Set(types)].sort() }
  if (q === undefined) return { filter, upToSeq: undefined, conditions: undefined }
  // The request was validated, so the query parses.
  const query = Result.getOrThrow(parseQuery(q, eventQueryFields))
  const search = eventQueryOf(filter, query, nowMs - (nowMs % MINUTE_MS))
  // A stream has its own position, so conditions on positions apply to each event.
  const hasPosition = search.filter.afterSeq > 0 || search.upToSeq !== undefined
  return hasPosition ? { filter, upToSeq: undefined, conditions: query } : search
}
