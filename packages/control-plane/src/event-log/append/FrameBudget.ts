import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { EventLogSettings } from "../EventLogSettings.ts"
import { Permits } from "./Permits.ts"

/** What one run may hold of the budget. */
export interface BudgetShare {
  /** Waits until there is room for so many bytes, and then hands over what they are for. */
  readonly hold: (bytes: number, hand: () => void) => Effect.Effect<void>
  /** Gives back what was held, in the amounts in which it was. */
  readonly give: (bytes: number) => void
}

/**
 * The one budget, in bytes, of the frames that wait for the log, shared by everything that reads from the runtime
 * (docs/reference/events.md#bounds). Who finds no room waits, and with it the stream that it reads from, so a slow
 * database or a fat session slows the runtime down instead of filling memory. A run holds a share of the budget at
 * most, and whoever waits is served in turn, so no run starves the others.
 */
export class FrameBudget extends Context.Service<
  FrameBudget,
  {
    /** A share for one run; what it still holds is given back when the scope ends. */
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
