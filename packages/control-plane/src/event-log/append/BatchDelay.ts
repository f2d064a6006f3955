import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Least time from the beginning of one transaction to the next, for frames that come one by one. Milliseconds. */
export const PACE_MS = 8
/**
 * So many frames, and requests to store some, are worth a transaction of their own at once: a transaction costs as much
 * as some dozen events.
 */
export const WORTH_ANOTHER = 64

/**
 * When the frames of a run are taken from its inbox (docs/reference/events.md#one-append). Frames that come one by one,
 * soon after a transaction has begun, wait for those that share the next one: PACE_MS at most, and not at all when the
 * log was idle or when many come. They wait in the inbox and not in the queue of the log, so whatever comes meanwhile
 * goes with them.
 */
export class BatchDelay extends Context.Service<
  BatchDelay,
  {
    /** A transaction of small appends begins. */
    readonly begun: () => void
    /** So many frames have come into an inbox. */
    readonly come: (frames: number) => void
    /** Waits until what has come is worth a transaction. */
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

      const letGo = () => {
        for (const resume of waiting) resume()
        waiting.clear()
      }
      const wait = Effect.callback<void>((resume) => {
        const go = () => resume(Effect.void)
        waiting.add(go)
        return Effect.sync(() => waiting.delete(go))
      })
      const due = Effect.suspend(() => {
        const wanting = nextAt - clock.currentTimeMillisUnsafe()
        if (wanting <= 0 || frames >= WORTH_ANOTHER) return Effect.void
        if (waiting.size > 0) return wait
        // Transactions that begin meanwhile, for what others have asked, do not make the first to wait wait any longer.
        const ring = Effect.delay(Effect.sync(letGo), Math.min(wanting, PACE_MS))
        return Effect.andThen(Effect.forkIn(ring, scope), wait)
      })
      return BatchDelay.of({
        begun: () => {
          frames = 0
          nextAt = clock.currentTimeMillisUnsafe() + PACE_MS
        },
        come: (count) => {
          frames += count
          if (frames >= WORTH_ANOTHER) letGo()
        },
        due
      })
    })
  )
}
