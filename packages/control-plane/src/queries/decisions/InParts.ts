import type { Parts } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** After this time others have their turn. Milliseconds. */
const TURN_MS = 10

/** Makes what comes in parts, and lets the process do its other work in between (docs/decisions.md#limits). */
export const inParts = Effect.fnUntraced(function* <A>(parts: Parts<A>) {
  const clock = yield* Clock.Clock
  while (true) {
    const started = clock.currentTimeMillisUnsafe()
    do {
      const { done, value } = parts.next()
      if (done) return value
    } while (clock.currentTimeMillisUnsafe() - started < TURN_MS)
    yield* Effect.yieldNow
  }
})
