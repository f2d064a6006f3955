import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { EventRepository } from "../events/EventRepository.ts"
import { LiveEvents } from "../events/LiveEvents.ts"
import { Shutdown } from "../http/Shutdown.ts"
import { Metrics } from "../telemetry/Metrics.ts"
import { type FeedOptions, makeRunFeed } from "./RunFeed.ts"
import { StreamRepository } from "./StreamRepository.ts"

const rereads = Schedule.min([Schedule.exponential("100 millis", 2), Schedule.spaced("2 seconds")]).pipe(
  Schedule.jittered
)

/** The SSE frames of runs as bytes (http-details section 8). A stream ends with its run, on shutdown, or with its client. */
export class RunStream extends Context.Service<
  RunStream,
  {
    /**
     * Empty when the run does not exist: callers that owe a 404 look before. `opened` is run once the stream knows where it
     * starts: whatever is committed from then on, it will send.
     */
    readonly open: (runId: RunId, options: FeedOptions, opened?: Effect.Effect<void>) => Stream.Stream<Uint8Array>
  }
>()("runplane/control-plane/RunStream") {
  static readonly layerNoDeps = Layer.effect(
    RunStream,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const heads = yield* StreamRepository
      const live = yield* LiveEvents
      const metrics = yield* Metrics
      const shutdown = yield* Shutdown

      const feed = Effect.fnUntraced(function* (runId: RunId, options: FeedOptions, opened: Effect.Effect<void>) {
        yield* Effect.acquireRelease(Effect.sync(metrics.sseOpened), () => Effect.sync(metrics.sseClosed))
        const subscription = yield* live.subscribe(runId)
        // The answer has begun, so it is too late to refuse: a database that is away is waited for, as everywhere in a stream.
        const start = yield* Effect.orDie(Effect.retry(heads.snapshot(runId), rereads))
        yield* opened
        if (start === undefined) return Stream.empty
        const next = yield* makeRunFeed(runId, options, { events, heads, subscription, start })
        return Stream.unfold(undefined, () =>
          Effect.map(next, (bytes) => (bytes === undefined ? undefined : ([bytes, undefined] as const)))
        )
      })

      const open = (runId: RunId, options: FeedOptions, opened: Effect.Effect<void> = Effect.void) =>
        Stream.unwrap(feed(runId, options, opened)).pipe(Stream.interruptWhen(shutdown.begun))
      return RunStream.of({ open })
    })
  )
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([StreamRepository.layer, EventRepository.layer]))
}
