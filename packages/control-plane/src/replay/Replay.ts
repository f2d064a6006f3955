import type { ReplayDescriptor, ReplayStreamQuery } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../events/EventRepository.ts"
import { Shutdown } from "../http/Shutdown.ts"
import { integer } from "../Settings.ts"
import { Metrics } from "../telemetry/Metrics.ts"
import { replayFrames } from "./ReplayFrames.ts"

/** REPLAY_BATCH_SIZE */
export const REPLAY_BATCH_SIZE = 500
/** REPLAY_MAX_DELAY_MS */
export const REPLAY_MAX_DELAY_MS = 2_000

/**
 * Replays of runs as SSE bytes (http-details section 9). A replay goes up to the run's last event as of its beginning; it ends
 * before that when its client leaves, or on shutdown.
 */
export class Replay extends Context.Service<
  Replay,
  {
    /** Empty when the run does not exist: callers that owe a 404 look before. */
    readonly open: (runId: RunId, query: ReplayStreamQuery) => Stream.Stream<Uint8Array, SqlError>
  }
>()("runplane/control-plane/Replay") {
  static readonly layerNoDeps = Layer.effect(
    Replay,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const metrics = yield* Metrics
      const shutdown = yield* Shutdown
      const limits = {
        batchSize: yield* integer("REPLAY_BATCH_SIZE", REPLAY_BATCH_SIZE, 1),
        maxDelayMs: yield* integer("REPLAY_MAX_DELAY_MS", REPLAY_MAX_DELAY_MS, 0)
      }

      const frames = Effect.fnUntraced(function* (runId: RunId, query: ReplayStreamQuery) {
        yield* Effect.acquireRelease(Effect.sync(metrics.sseOpened), () => Effect.sync(metrics.sseClosed))
        const head = yield* events.head(runId)
        return replayFrames(
          (afterSeq, limit) => events.page(runId, { afterSeq, types: [] }, limit),
          {
            mode: query.mode,
            speed: query.speed,
            fromSeq: query.fromSeq ?? 1,
            toSeq: Math.min(query.toSeq ?? Number.MAX_SAFE_INTEGER, head?.lastSeq ?? 0)
          },
          limits
        )
      })

      const open = (runId: RunId, query: ReplayStreamQuery) =>
        Stream.unwrap(frames(runId, query)).pipe(Stream.encodeText, Stream.interruptWhen(shutdown.begun))
      return Replay.of({ open })
    })
  )
}

/** Where a replay with these options can be read; the addresses are relative to the service. */
export const describeReplay = (runId: RunId, { fromSeq, mode, speed, toSeq }: ReplayStreamQuery): ReplayDescriptor => {
  const bounds = { ...(fromSeq !== undefined && { fromSeq }), ...(toSeq !== undefined && { toSeq }) }
  const query = Object.entries({ mode, speed, ...bounds }).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
  return {
    runId,
    mode,
    speed,
    ...bounds,
    streamUrl: `/runs/${runId}/replay/stream?${query.join("&")}`,
    stateUrl: `/runs/${runId}/replay/state`
  }
}
