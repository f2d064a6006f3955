import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Gives the span of the current request its name, once the template of its route is known. Does nothing unless spans
 * are recorded.
 */
export const RequestSpanName = Context.Reference<(name: string) => Effect.Effect<void>>(
  "runplane/server/RequestSpanName",
  { defaultValue: () => () => Effect.void }
)
