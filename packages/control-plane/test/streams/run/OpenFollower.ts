import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type FollowerSource, follow, type NextDeliveries } from "../../../src/streams/FollowerLoop.ts"
import { openRun, type RunOptions } from "../../../src/streams/FollowerState.ts"
import { runSource } from "../../../src/streams/run/RunStream.ts"
import { detachedConnection, type SseConnection, writeShared } from "../../../src/streams/SseConnection.ts"
import { sseBytes } from "../../../src/streams/SseFrames.ts"
import { MEMORY_RUN, type MemoryLog } from "../MemoryLog.ts"

export const options: RunOptions = {
  afterSeq: undefined,
  includeSnapshot: true,
  snapshots: "all",
  snapshotIntervalMs: 100,
  heartbeatMs: 15_000
}

interface Over extends Partial<RunOptions> {
  readonly connection?: SseConnection
  readonly ended?: Effect.Effect<void>
}

/** The bytes of one read; undefined at the end of the stream. */
export const bytesOf = <E>(next: NextDeliveries<E>) =>
  next.pipe(
    Effect.map((deliveries): Uint8Array | undefined => {
      const frames = deliveries.map(sseBytes)
      return frames.length === 1 ? frames[0] : Buffer.concat(frames)
    }),
    Effect.catchIf(Cause.isDone, () => Effect.undefined)
  )

/** A stream of the run in memory. */
export const openFollower = Effect.fnUntraced(function* (log: MemoryLog, over: Over = {}) {
  const { connection = detachedConnection, ended = Effect.never, ...given } = over
  const { publish, subscription } = log.subscribe()
  const now = yield* Clock.currentTimeMillis
  const state = openRun({ ...options, ...given }, log.snapshot, { now, position: subscription.position })
  const source: FollowerSource<never> = runSource(
    MEMORY_RUN,
    subscription,
    { events: log.repository, states: log.states },
    ended
  )
  return { next: bytesOf(yield* follow(state, source, writeShared(connection))), publish }
})

export interface Frame {
  readonly event: string
  readonly index: number
}

export const framesOf = (bytes: Uint8Array | undefined): ReadonlyArray<Frame> =>
  new TextDecoder()
    .decode(bytes)
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const event = /^event: (.*)$/m.exec(frame)?.[1] ?? ""
      const data = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null")
      return { event, index: data.index ?? data.timeline.latestIndex }
    })

export const collect = Effect.fnUntraced(function* (next: Effect.Effect<Uint8Array | undefined, unknown>) {
  const frames: Array<Frame> = []
  while (true) {
    const bytes = yield* Effect.orDie(next)
    if (bytes === undefined) return frames
    frames.push(...framesOf(bytes))
  }
})

export const eventIndexes = (frames: ReadonlyArray<Frame>) =>
  frames.filter((frame) => frame.event === "canonical_event").map((frame) => frame.index)
export const snapshotIndexes = (frames: ReadonlyArray<Frame>) =>
  frames.filter((frame) => frame.event === "snapshot").map((frame) => frame.index)
