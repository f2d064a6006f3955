import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { spread } from "./Seed.ts"

/** The range of one pause, in milliseconds: long enough to watch, short enough for a session of a few seconds. */
const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 250

/** Multiplies every pause of the example agents; 0 lets them run at full speed. */
export const PaceFactor = Context.Reference<number>("runplane/agents/PaceFactor", { defaultValue: () => 1 })

/** Thinks for a moment. How long follows from the seed, so a session has the same rhythm each time. */
export const pause = (seed: string): Effect.Effect<void> =>
  Effect.flatMap(PaceFactor, (factor) => Effect.sleep(spread(seed, SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS) * factor))
