/**
 * Without this: 1,000 events a second of one run take 8.0 s of the service's CPU in 10 s instead of 3.8
 * (docs/internals/scale.md); costs this file and up to 8 ms for a single frame.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Least time from the beginning of one transaction to the next, for frames that arrive one by one. Milliseconds. */
export const PACE_MS = 8
/**
 * This number of frames begins a transaction at once: a transaction costs as much as some dozen events.
 */
export const WORTH_ANOTHER = 64

/**
 * Decides when the frames of a run are taken from its mailbox (docs/reference/events.md#one-append). Frames that arrive
 * one by one, soon after a transaction has begun, wait for others that share the next one: PACE_MS at most, and not at
 * all when the log was idle or when many arrive. They wait in the mailbox and not in the queue of the log, so frames
 * that arrive meanwhile join them.
 */
export class BatchDelay extends Context.Service<
  BatchDelay,
  {
    /** A transaction of small appends begins. */
    readonly begun: () => void
    /** Frames have arrived in a mailbox. */
    readonly come: (frames: number) => void
    /** Waits until the received frames may begin a transaction. */
    readonly due: Effect.Effect<void>
  }
>()("runplane/control-plane/BatchDelay") {
  static readonly layer = Layer.effect(
    BatchDelay,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const scope = yield* Effect.scope
      const waiting = new Set<() => void>()
      let nextAt = 0
      /** Since the last transaction began. */
      let frames = 0

      const resumeAll = () => {
        for (const resume of waiting) resume()
        waiting.clear()
      }
      const wait = Effect.callback<void>((resume) => {
        const go = () => resume(Effect.void)
        waiting.add(go)
        return Effect.sync(() => waiting.delete(go))
      })
      const due = Effect.suspend(() => {
        const remaining = nextAt - clock.currentTimeMillisUnsafe()
        if (remaining <= 0 || frames >= WORTH_ANOTHER) return Effect.void
        if (waiting.size > 0) return wait
        // Transactions that begin meanwhile do not extend the wait of the first.
        const timer = Effect.delay(Effect.sync(resumeAll), Math.min(remaining, PACE_MS))
        return Effect.andThen(Effect.forkIn(timer, scope), wait)
      })
      return BatchDelay.of({
        begun: () => {
          frames = 0
          nextAt = clock.currentTimeMillisUnsafe() + PACE_MS
        },
        come: (count) => {
          frames += count
          if (frames >= WORTH_ANOTHER) resumeAll()
        },
        due
      })
    })
  )
}
