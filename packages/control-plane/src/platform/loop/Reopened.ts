import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { forever, roundWaits } from "./Forever.ts"
import type { LoopName } from "./LoopNames.ts"

/** The shortest pause before a watch is opened again. Milliseconds. */
const SHORTEST_MS = 100

/**
 * Opens a watch again whenever it ends, for ever: at once when it was open for the longest pause (milliseconds) or
 * more, because the runtime does not repeat changes in between, and else after a pause that doubles up to that.
 */
export const reopened = <R>(name: LoopName, watch: Effect.Effect<void, never, R>, longestPauseMs: number) => {
  let last = 0
  const round = Effect.gen(function* () {
    yield* roundWaits
    const openedAt = yield* Clock.currentTimeMillis
    yield* watch
    const openMs = (yield* Clock.currentTimeMillis) - openedAt
    last = openMs >= longestPauseMs ? 0 : Math.min(last === 0 ? SHORTEST_MS : last * 2, longestPauseMs)
    return { pauseMs: last }
  })
  return forever(name, round, { backoff: { firstMs: SHORTEST_MS, longestMs: longestPauseMs } })
}
