import type { LogStreamQuery } from "@runplane/api"
import { eventQueryFields } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import { ControlPlaneSettings, readSetting, Shutdown } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { retryHint } from "../../platform/http/RetryHint.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { type EventQuery, eventQueryOf } from "../../queries/query/EventQuery.ts"
import type { StreamClient } from "../run/StreamClient.ts"
import { LogTail } from "./LogTail.ts"
import { makeTailFeed } from "./TailFeed.ts"

const rereads = Schedule.min([Schedule.exponential("100 millis", 2), Schedule.spaced("2 seconds")]).pipe(
  Schedule.jittered
)

/**
 * The SSE frames of the whole log as bytes (docs/reference/http.md#log-stream). Ends on shutdown, or with its client.
 */
export class LogStream extends Context.Service<
  LogStream,
  {
    /**
     * `afterSeq` undefined starts with what happens from now on. The client is greeted once the stream knows where it
     * starts; the bytes are those that it has not been handed by itself.
     */
    readonly open: (
      query: LogStreamQuery,
      afterSeq: number | undefined,
      client: StreamClient
    ) => Stream.Stream<Uint8Array>
  }
>()("runplane/control-plane/LogStream") {
  static readonly layer = Layer.effect(
    LogStream,
    Effect.gen(function* () {
      const tail = yield* LogTail
      const watermark = yield* Watermark
      const metrics = yield* Metrics
      const shutdown = yield* Shutdown
      const defaultHeartbeatMs = yield* readSetting(ControlPlaneSettings.STREAM_SSE_HEARTBEAT_MS)

      /**
       * Behind the cursor; at the end of the log without one, or when it is beyond the end
       * (docs/reference/http.md#reset).
       */
      const startOf = Effect.fnUntraced(function* (afterSeq: number | undefined) {
        if (afterSeq === undefined) return { afterSeq: yield* watermark.now }
        // A read that streams share may have begun before the client's last event was committed; the next has not.
        const isBeyond = Effect.map(watermark.lastPlace, (last) => last < afterSeq)
        if ((yield* isBeyond) && (yield* isBeyond)) return { afterSeq: yield* watermark.now, resetFrom: afterSeq }
        return { afterSeq }
      })

      const feed = Effect.fnUntraced(function* (
        query: LogStreamQuery,
        afterSeq: number | undefined,
        client: StreamClient
      ) {
        yield* Effect.acquireRelease(Effect.sync(metrics.sseOpened), () => Effect.sync(metrics.sseClosed))
        const subscription = yield* tail.subscribe(keyOf(query), searchOf(query))
        // The answer has begun, so it is too late to refuse: a database that is away is waited for.
        const start = yield* Effect.raceFirst(Effect.orDie(Effect.retry(startOf(afterSeq), rereads)), shutdown.begun)
        if (start === undefined) return Stream.empty
        yield* client.greet
        const options = { ...start, heartbeatMs: query.heartbeatMs ?? defaultHeartbeatMs }
        const next = yield* makeTailFeed(options, {
          ...subscription,
          read: (from) => readFor(client)(subscription.read(from)),
          ended: shutdown.begun,
          client
        })
        return Stream.fromPull(Effect.succeed(next))
      })
      const open = (query: LogStreamQuery, afterSeq: number | undefined, client: StreamClient) =>
        Stream.concat(Stream.unwrap(feed(query, afterSeq, client)), retryHint(shutdown))
      return LogStream.of({ open })
    })
  )
}

/** Types in another order are the same search, and so is one that is written twice. */
const keyOf = ({ q, types }: LogStreamQuery): string => JSON.stringify([[...new Set(types)].sort(), q ?? ""])

const searchOf = ({ q, types }: LogStreamQuery): EventQuery => {
  const filter = { afterSeq: 0, types: types ?? [] }
  if (q === undefined) return { filter, upToSeq: undefined, rest: undefined }
  // The contract has read it once.
  const query = Result.getOrThrow(parseQuery(q, eventQueryFields))
  const search = eventQueryOf(filter, query)
  // Where a stream stands is its own matter: conditions on places are asked of each event.
  const isPlaced = search.filter.afterSeq > 0 || search.upToSeq !== undefined
  return isPlaced ? { filter, upToSeq: undefined, rest: query } : search
}
