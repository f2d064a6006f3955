import type { RunId } from "@runplane/domain"
import { Shutdown } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { LiveEvents } from "../../event-log/subscribe/LiveEvents.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { retryHint } from "../../platform/http/RetryHint.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { type FeedOptions, makeRunFeed } from "./RunFeed.ts"
import { passiveClient, type StreamClient } from "./StreamClient.ts"
import { StreamReads } from "./StreamReads.ts"

const rereads = Schedule.min([Schedule.exponential("100 millis", 2), Schedule.spaced("2 seconds")]).pipe(
  Schedule.jittered
)

/**
 * The SSE frames of runs as bytes (docs/reference/http.md#stream-end). A stream ends with its run, on shutdown, or with
 * its client.
 */
export class RunStream extends Context.Service<
  RunStream,
  {
    /**
     * Opens a stream for the lifetime of the scope; fails when the run is gone by now. The stream fails when the run is
     * deleted before its end is sent. It greets the client when it begins and sends every event that is committed from
     * the opening on. The bytes are those that the client has not been handed by itself.
     */
    readonly open: (
      runId: RunId,
      options: FeedOptions,
      client?: StreamClient
    ) => Effect.Effect<Stream.Stream<Uint8Array, RunGone>, RunGone, Scope.Scope>
  }
>()("runplane/control-plane/RunStream") {
  static readonly layer = Layer.effect(
    RunStream,
    Effect.gen(function* () {
      const { events, states } = yield* StreamReads
      const live = yield* LiveEvents
      const metrics = yield* Metrics
      const shutdown = yield* Shutdown

      const feed = Effect.fnUntraced(function* (runId: RunId, options: FeedOptions, client: StreamClient) {
        yield* Effect.acquireRelease(Effect.sync(metrics.sseOpened), () => Effect.sync(metrics.sseClosed))
        const subscription = yield* live.subscribe(runId)
        const read = readFor(client)
        // A database that is away is waited for, as everywhere in a stream.
        const current = Effect.flatMap(Effect.orDie(Effect.retry(read(states.current(runId)), rereads)), (state) =>
          state === undefined ? Effect.fail(new RunGone({ runId })) : Effect.succeed(state)
        )
        const start = yield* Effect.raceFirst(current, Effect.as(shutdown.begun, undefined))
        if (start === undefined) return Stream.empty
        const next = yield* makeRunFeed(runId, options, {
          events: { slice: (...of) => read(events.slice(...of)) },
          states: { current: (...of) => read(states.current(...of)), head: (...of) => read(states.head(...of)) },
          subscription,
          start,
          ended: shutdown.begun,
          client
        })
        return Stream.unfold(undefined, () =>
          Effect.map(next, (bytes) => (bytes === undefined ? undefined : ([bytes, undefined] as const)))
        )
      })

      const open = (runId: RunId, options: FeedOptions, client: StreamClient = passiveClient) =>
        Effect.map(feed(runId, options, client), (frames) =>
          Stream.concat(Stream.onStart(frames, client.greet), retryHint(shutdown))
        )
      return RunStream.of({ open })
    })
  )
}
