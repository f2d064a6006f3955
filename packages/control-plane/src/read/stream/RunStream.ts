import type { RunId } from "@runplane/domain"
import { Shutdown } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { retryHint } from "../../edge/RetryHint.ts"
import { LiveEvents } from "../../log/LiveEvents.ts"
import { RunGone } from "../../log/runs/RunGone.ts"
import { type FeedOptions, makeRunFeed } from "./RunFeed.ts"
import { passiveClient, readFor, type StreamClient } from "./StreamClient.ts"
import { StreamMeter } from "./StreamMeter.ts"
import { StreamReads } from "./StreamReads.ts"

const rereads = Schedule.min([Schedule.exponential("100 millis", 2), Schedule.spaced("2 seconds")]).pipe(
  Schedule.jittered
)

/**
 * The SSE frames of runs as bytes (docs/http.md#stream-end). A stream ends with its run, on shutdown, or with its
 * client.
 */
export class RunStream extends Context.Service<
  RunStream,
  {
    /**
     * Callers that owe a 404 look before: fails when the run is gone by now, or is deleted before its end is sent. The
     * client is greeted once the stream knows where it starts: whatever is committed from then on, it will send. The
     * bytes are those that the client has not been handed by itself.
     */
    readonly open: (runId: RunId, options: FeedOptions, client?: StreamClient) => Stream.Stream<Uint8Array, RunGone>
  }
>()("runplane/control-plane/RunStream") {
  static readonly layer = Layer.effect(
    RunStream,
    Effect.gen(function* () {
      const { events, states } = yield* StreamReads
      const live = yield* LiveEvents
      const meter = yield* StreamMeter
      const shutdown = yield* Shutdown

      const feed = Effect.fnUntraced(function* (runId: RunId, options: FeedOptions, client: StreamClient) {
        yield* Effect.acquireRelease(Effect.sync(meter.opened), () => Effect.sync(meter.closed))
        const subscription = yield* live.subscribe(runId)
        const read = readFor(client)
        // The answer has begun, so it is too late to refuse: a database that is away is waited for, as everywhere in a
        // stream.
        const current = Effect.flatMap(Effect.orDie(Effect.retry(read(states.current(runId)), rereads)), (state) =>
          state === undefined ? Effect.fail(new RunGone({ runId })) : Effect.succeed(state)
        )
        const start = yield* Effect.raceFirst(current, Effect.as(shutdown.begun, undefined))
        yield* client.greet
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
        Stream.concat(Stream.unwrap(feed(runId, options, client)), retryHint(shutdown))
      return RunStream.of({ open })
    })
  )
}
