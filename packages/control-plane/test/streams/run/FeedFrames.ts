import * as Effect from "effect/Effect"
import type { FeedOptions } from "../../../src/streams/run/RunFeed.ts"

export const options: FeedOptions = {
  afterSeq: undefined,
  includeSnapshot: true,
  snapshots: "all",
  snapshotIntervalMs: 100,
  heartbeatMs: 15_000
}

export interface Frame {
  readonly event: string
  readonly index: number
}

export const framesOf = (bytes: Uint8Array): ReadonlyArray<Frame> =>
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
