import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * Notifies the memory of this process of runs that have lost texts. No reader gets an entry of before, because the
 * revision of the run has changed; this frees its text at once.
 */
export class ErasedRuns extends Context.Service<
  ErasedRuns,
  {
    readonly announce: (runId: string) => void
    /** Calls a listener, which must not wait or fail, with each run that has lost texts. */
    readonly listen: (listener: (runId: string) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("runplane/control-plane/ErasedRuns") {
  static readonly layer = Layer.sync(ErasedRuns, () => {
    const listeners = new Set<(runId: string) => void>()
    return ErasedRuns.of({
      announce: (runId) => {
        for (const listener of listeners) listener(runId)
      },
      listen: (listener) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => listeners.add(listener)),
            () => Effect.sync(() => listeners.delete(listener))
          )
        )
    })
  })
}
