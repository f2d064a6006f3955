import type { ReplayDescriptor, ReplayStreamQuery } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import { ControlPlaneSettings, readSettings, Shutdown } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { untilShutdown } from "../../platform/http/RetryHint.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { passiveClient, type StreamClient } from "../run/StreamClient.ts"
import { StreamReads } from "../run/StreamReads.ts"
import { replayFrames } from "./ReplayFrames.ts"

/**
 * Replays of runs as SSE bytes (docs/reference/http.md#replay). A replay goes up to the run's last event as of its
 * beginning; it ends before that when its client leaves, or on shutdown.
 */
export class Replay extends Context.Service<
  Replay,
  {
    /** Callers that owe a 404 look before: fails when the run is gone by now, or before the replay ends. */
    readonly open: (
      runId: RunId,
      query: ReplayStreamQuery,
      client?: Pick<StreamClient, "facts">
    ) => Stream.Stream<Uint8Array, SqlError | RunGone>
  }
>()("runplane/control-plane/Replay") {
  static readonly layer = Layer.effect(
    Replay,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const { inTurn } = yield* StreamReads
      const metrics = yield* Metrics
      const shutdown = yield* Shutdown
      const limits = yield* readSettings({
        batchSize: ControlPlaneSettings.REPLAY_BATCH_SIZE,
        maxDelayMs: ControlPlaneSettings.REPLAY_MAX_DELAY_MS
      })

      const frames = Effect.fnUntraced(function* (
        runId: RunId,
        query: ReplayStreamQuery,
        client: Pick<StreamClient, "facts">
      ) {
        const read = readFor(client)
        yield* Effect.acquireRelease(Effect.sync(metrics.sseOpened), () => Effect.sync(metrics.sseClosed))
        const head = yield* read(inTurn(events.head(runId)))
        if (head === undefined) return yield* new RunGone({ runId })
        return replayFrames(
          (afterSeq, limit) => read(inTurn(events.page(runId, { afterSeq, types: [] }, limit))),
          {
            runId,
            mode: query.mode,
            speed: query.speed,
            fromSeq: query.fromSeq ?? 1,
            toSeq: Math.min(query.toSeq ?? Number.MAX_SAFE_INTEGER, head.lastSeq)
          },
          limits
        )
      })

      const open = (runId: RunId, query: ReplayStreamQuery, client: Pick<StreamClient, "facts"> = passiveClient) =>
        Stream.unwrap(frames(runId, query, client)).pipe(Stream.encodeText, untilShutdown(shutdown))
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
