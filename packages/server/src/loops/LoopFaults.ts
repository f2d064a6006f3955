import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** What a test does to the loops of a service; undefined, the default, in every program. */
export const LoopFaults = Context.Reference<
  | {
      /** Runs as the beginning of each round; its defect is one of the round. */
      readonly before: (name: string) => Effect.Effect<void>
      /** Ends the pause of a loop as a wake does. */
      readonly wake: (name: string) => Effect.Effect<void>
      /** The longest pause after a failure. Milliseconds. */
      readonly longestMs: number
    }
  | undefined
>("runplane/server/LoopFaults", { defaultValue: () => undefined })
