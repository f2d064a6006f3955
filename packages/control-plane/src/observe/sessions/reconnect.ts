import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The shortest pause before a watch is opened again. Milliseconds. */
const SHORTEST_PAUSE_MS = 100

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
      pause = openMs >= longestPauseMs ? 0 : Math.min(pause === 0 ? SHORTEST_PAUSE_MS : pause * 2, longestPauseMs)
      yield* Effect.sleep(pause)
    }
  })
