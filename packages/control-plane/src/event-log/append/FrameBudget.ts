import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { EventLogSettings } from "../EventLogSettings.ts"
import { Permits } from "./Permits.ts"

/** The part of the budget that one run may hold. */
export interface BudgetShare {
  /** Waits until the bytes are available, and then calls `hand`. */
  readonly hold: (bytes: number, hand: () => void) => Effect.Effect<void>
  /** Releases bytes, in the amounts in which they were acquired. */
  readonly give: (bytes: number) => void
}

/**
 * The one budget, in bytes, of the frames that wait for the log, shared by everything that reads from the runtime
 * (docs/reference/events.md#bounds). A reader without capacity waits, and with it the stream that it reads, so a slow
 * database or a large session slows the runtime down instead of filling memory. A run holds at most its share of the
 * budget, and waiting readers are served in their order, so no run starves the others.
 */
export class FrameBudget extends Context.Service<
  FrameBudget,
  {
    /** A share for one run; its bytes are released when the scope ends. */
    readonly share: Effect.Effect<BudgetShare, never, Scope.Scope>
    /** Bytes that are held now, of all runs. */
    readonly held: () => number
  }
>()("runplane/control-plane/FrameBudget") {
  static readonly layer = Layer.effect(
    FrameBudget,
    Effect.gen(function* () {
      const { bufferBytes, runBufferBytes } = yield* EventLogSettings
      const all = new Permits(bufferBytes)

      const share = Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => ({ own: new Permits(runBufferBytes), held: 0 })),
          (ours) => Effect.sync(() => all.give(ours.held))
        ),
        (ours): BudgetShare => ({
          hold: (bytes, hand) =>
            Effect.uninterruptibleMask((interruptible) =>
              Effect.gen(function* () {
                yield* interruptible(ours.own.take(bytes))
                yield* Effect.onInterrupt(interruptible(all.take(bytes)), () => Effect.sync(() => ours.own.give(bytes)))
                ours.held += Math.min(bytes, bufferBytes)
                hand()
              })
            ),
          give: (bytes) => {
            ours.held -= Math.min(bytes, bufferBytes)
            all.give(bytes)
            ours.own.give(bytes)
          }
        })
      )
      return FrameBudget.of({ share, held: () => all.held })
    })
  )
}
