import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The shortest pause before a watch is opened again. Milliseconds. */
const SHORTEST_PAUSE_MS = 100

/**
 * Opens a watch again whenever it ends, for ever: at once after one that has stood for long, because what happens
 * meanwhile is not repeated, and else with a pause that doubles up to the longest (milliseconds).
 */
export const keepOpen = <R>(watch: Effect.Effect<void, never, R>, longestPauseMs: number) =>
  Effect.gen(function* () {
    let pause = 0
    while (true) {
      const opened = yield* Clock.currentTimeMillis
      yield* watch
      const stood = (yield* Clock.currentTimeMillis) - opened
      pause = stood >= longestPauseMs ? 0 : Math.min(pause === 0 ? SHORTEST_PAUSE_MS : pause * 2, longestPauseMs)
      yield* Effect.sleep(pause)
    }
  })
