import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../events/EventRepository.ts"
import { LiveEvents } from "../events/LiveEvents.ts"
import { Shutdown } from "../http/Shutdown.ts"
import { Metrics } from "../telemetry/Metrics.ts"
import { type FeedOptions, makeRunFeed } from "./RunFeed.ts"
import { StreamRepository } from "./StreamRepository.ts"

/** The SSE frames of runs as bytes (http-details section 8). A stream ends with its run, on shutdown, or with its client. */
export class RunStream extends Context.Service<
  RunStream,
  {
    /** Empty when the run does not exist: callers that owe a 404 look before. */
    readonly open: (runId: RunId, options: FeedOptions) => Stream.Stream<Uint8Array, SqlError>
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

      const feed = Effect.fnUntraced(function* (runId: RunId, options: FeedOptions) {
        yield* Effect.acquireRelease(Effect.sync(metrics.sseOpened), () => Effect.sync(metrics.sseClosed))
        const subscription = yield* live.subscribe(runId)
        const start = yield* heads.snapshot(runId)
        if (start === undefined) return Stream.empty
        const next = yield* makeRunFeed(runId, options, { events, heads, subscription, start })
        return Stream.unfold(undefined, () =>
          Effect.map(next, (bytes) => (bytes === undefined ? undefined : ([bytes, undefined] as const)))
        )
      })

      const open = (runId: RunId, options: FeedOptions) =>
        Stream.unwrap(feed(runId, options)).pipe(Stream.interruptWhen(shutdown.begun))
      return RunStream.of({ open })
    })
  )
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([StreamRepository.layer, EventRepository.layer]))
}
