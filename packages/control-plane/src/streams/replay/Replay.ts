import type { ReplayDescriptor, ReplayStreamQuery } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import { ControlPlaneSettings, readSettings, retryHint, Shutdown } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { type EventPage, EventRepository } from "../../event-log/EventRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { Wakeup } from "../../event-log/subscribe/Wakeup.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { type FollowerSource, follow } from "../FollowerLoop.ts"
import { type Input, openReplay } from "../FollowerState.ts"
import { detachedConnection, type SseConnection, writeShared } from "../SseConnection.ts"
import { sseBytes } from "../SseFrames.ts"
import { StreamReads } from "../StreamReads.ts"

/**
 * Replays of runs as SSE bytes (docs/reference/streams.md#replay). A replay ends at the event that was the last one of
 * the run when it began; before that when its client leaves, or on shutdown.
 */
export class Replay extends Context.Service<
  Replay,
  {
    /** Fails when the run was deleted, before the replay or during it. */
    readonly open: (
      runId: RunId,
      query: ReplayStreamQuery,
      connection?: SseConnection
    ) => Stream.Stream<Uint8Array, SqlError | RunGone>
  }
>()("runplane/control-plane/Replay") {
  static readonly layer = Layer.effect(
    Replay,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const { inTurn } = yield* StreamReads
      const shutdown = yield* Shutdown
      const limits = yield* readSettings({
        batchSize: ControlPlaneSettings.REPLAY_BATCH_SIZE,
        maxDelayMs: ControlPlaneSettings.REPLAY_MAX_DELAY_MS
      })

      const frames = Effect.fnUntraced(function* (runId: RunId, query: ReplayStreamQuery, connection: SseConnection) {
        const read = readFor(connection)
        const head = yield* Effect.raceFirst(
          read(inTurn(events.head(runId))),
          Effect.as(shutdown.begun, "stopping" as const)
        )
        if (head === "stopping") return Stream.empty
        if (head === undefined) return yield* new RunGone({ runId })
        const state = openReplay(
          {
            _tag: "Replay",
            runId,
            toSeq: Math.min(query.toSeq ?? Number.MAX_SAFE_INTEGER, head.lastSeq),
            speed: query.mode === "timed" ? query.speed : undefined,
            maxDelayMs: limits.maxDelayMs
          },
          query.fromSeq ?? 1
        )
        const readPage = (afterSeq: number) =>
          read(inTurn(events.page(runId, { afterSeq, types: [] }, limits.batchSize)))
        const source = replaySource(readPage, shutdown.begun)
        const deliveries = Stream.fromPull(Effect.succeed(yield* follow(state, source, writeShared(connection))))
        return Stream.map(deliveries, sseBytes)
      })

      const open = (runId: RunId, query: ReplayStreamQuery, connection: SseConnection = detachedConnection) =>
        Stream.concat(
          Stream.onStart(Stream.unwrap(frames(runId, query, connection)), connection.flushHeaders),
          retryHint(shutdown)
        )
      return Replay.of({ open })
    })
  )
}

/** The pages of a run as the source of a stream; a failed read ends the replay. */
export const replaySource = <E>(
  readPage: (afterSeq: number) => Effect.Effect<EventPage, E>,
  ended: Effect.Effect<void>
): FollowerSource<E> => ({
  wakeup: new Wakeup(),
  take: () => undefined,
  read: ({ index, seq }) =>
    Effect.map(
      readPage(seq),
      ({ events }): Input => ({ _tag: "Page", deliveries: [], events, seq, index, isLast: false })
    ),
  audience: () => 1,
  ended
})

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
