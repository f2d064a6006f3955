import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { LiveBatch } from "../../event-log/subscribe/LiveBatch.ts"
import type { HandOn, LiveGap, Subscription } from "../../event-log/subscribe/Subscription.ts"

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
 * Waits for the next item until a time, Unix milliseconds; undefined when none has come, which may be a little before.
 * The clock of one wait is left to the next: most waits end with an item and have the same end, and a clock for each
 * would cost more than the item. What `tryDeliver` takes meanwhile is not an item.
 */
export const makeTakeUntil = (mailbox: Subscription, scope: Scope.Scope, tryDeliver: HandOn) => {
  let clock: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined
  const ring = Effect.sync(() => {
    clock = undefined
    mailbox.wake()
  })
  const setClock = Effect.fnUntraced(function* (at: number, now: number) {
    if (clock !== undefined) yield* Fiber.interrupt(clock.fiber)
    clock = { at, fiber: yield* Effect.forkIn(Effect.delay(ring, Math.max(0, at - now)), scope) }
  })
  return (at: number, now: number): Effect.Effect<LiveBatch | LiveGap | undefined> =>
    Effect.suspend(() => {
      const item = mailbox.takeNow()
      if (item !== undefined) return Effect.succeed(item)
      const taken = Effect.map(mailbox.waken(tryDeliver), () => mailbox.takeNow())
      return clock !== undefined && clock.at <= at ? taken : Effect.andThen(setClock(at, now), taken)
    })
}
