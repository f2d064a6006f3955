import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"

/**
 * Pause after a read that failed, doubling up to the longest, with jitter so that the streams do not come back as one.
 * Milliseconds.
 */
const REREAD_MS = 100
const LONGEST_REREAD_MS = 2_000

/** When a feed may read the database again after reads that failed. */
export const makeRereads = () => {
  let failures = 0
  let at = 0
  return {
    failed: Effect.gen(function* () {
      const pause = Math.min(REREAD_MS * 2 ** failures, LONGEST_REREAD_MS) * (0.5 + (yield* Random.next))
      at = (yield* Clock.currentTimeMillis) + Math.ceil(pause)
      failures += 1
    }),
    succeeded: () => {
      failures = 0
    },
    /** The time before which there is no use in another read. Unix milliseconds. */
    at: () => at
  }
}

/**
 * Waits for the next item for so many milliseconds; undefined when none comes. The waiting fiber outlives the wait, so
 * an item that arrives with the clock is not lost.
 */
export const makeTakeWithin = <Item>(take: Effect.Effect<Item>, scope: Scope.Scope) => {
  let pending: Fiber.Fiber<Item> | undefined
  return Effect.fnUntraced(function* (millis: number) {
    pending ??= yield* Effect.forkIn(take, scope)
    const item = yield* Effect.timeoutOption(Fiber.join(pending), millis)
    if (Option.isSome(item)) pending = undefined
    return Option.getOrUndefined(item)
  })
}
