import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { EventLogSettings } from "../EventLogSettings.ts"
import { Permits } from "./Permits.ts"

/** The part of the budget that one run may acquire. */
export interface BudgetShare {
  /** Waits until the bytes are available, then acquires them and calls `then`. */
  readonly acquire: (bytes: number, then: () => void) => Effect.Effect<void>
  /** Releases bytes, in the amounts in which they were acquired. */
  readonly release: (bytes: number) => void
}

/**
 * The one budget, in bytes, of the frames that wait for the log, shared by everything that reads from the runtime
 * (docs/reference/events.md#bounds). A reader without capacity waits, and with it the stream that it reads, so a slow
 * database or a large session slows the runtime down instead of filling memory. A run uses at most its share of the
 * budget, and waiting readers are served in their order, so no run starves the others.
 */
export class FrameBudget extends Context.Service<
  FrameBudget,
  {
    /** A share for one run; its bytes are released when the scope ends. */
    readonly share: Effect.Effect<BudgetShare, never, Scope.Scope>
    /** Bytes in use by all runs. */
    readonly used: () => number
  }
>()("runplane/control-plane/FrameBudget") {
  static readonly layer = Layer.effect(
    FrameBudget,
    Effect.gen(function* () {
      const { bufferBytes, runBufferBytes } = yield* EventLogSettings
      const all = new Permits(bufferBytes)

      const share = Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => ({ own: new Permits(runBufferBytes), used: 0 })),
          (ours) => Effect.sync(() => all.release(ours.used))
        ),
        (ours): BudgetShare => ({
          acquire: (bytes, then) =>
            Effect.uninterruptibleMask((interruptible) =>
              Effect.gen(function* () {
                yield* interruptible(ours.own.take(bytes))
                yield* Effect.onInterrupt(interruptible(all.take(bytes)), () =>
                  Effect.sync(() => ours.own.release(bytes))
                )
                ours.used += Math.min(bytes, bufferBytes)
                then()
              })
            ),
          release: (bytes) => {
            ours.used -= Math.min(bytes, bufferBytes)
            all.release(bytes)
            ours.own.release(bytes)
          }
        })
      )
      return FrameBudget.of({ share, used: () => all.used })
    })
  )
}
