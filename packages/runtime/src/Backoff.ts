import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** Pauses that double from the first to the longest, both in milliseconds; endless unless the caller ends it. */
export const backoff = (firstMs: number, longestMs: number) =>
  Schedule.min([Schedule.exponential(firstMs, 2), Schedule.spaced(longestMs)])

/** The same with each pause spread by a fifth, for callers that would otherwise all come back at the same moment. */
export const jitteredBackoff = (firstMs: number, longestMs: number) => Schedule.jittered(backoff(firstMs, longestMs))

/** The shortest pause before a watch is opened again. Milliseconds. */
const SHORTEST_RECONNECT_MS = 100

/**
 * Opens a watch again whenever it ends, for ever: at once when it was open for the longest pause (milliseconds) or
 * more, because the runtime does not repeat changes in between, and else after a pause that doubles up to that.
 */
export const reconnect = <R>(watch: Effect.Effect<void, never, R>, longestPauseMs: number) =>
  Effect.gen(function* () {
    let pause = 0
    while (true) {
      const openedAt = yield* Clock.currentTimeMillis
      yield* watch
      const openMs = (yield* Clock.currentTimeMillis) - openedAt
      pause = openMs >= longestPauseMs ? 0 : Math.min(pause === 0 ? SHORTEST_RECONNECT_MS : pause * 2, longestPauseMs)
      yield* Effect.sleep(pause)
    }
  })
