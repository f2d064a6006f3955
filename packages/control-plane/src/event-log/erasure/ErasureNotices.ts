import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { ProcessChannel } from "../ProcessChannel.ts"

const SUBJECT = "erased"

/**
 * Tells the memory of every process which runs have lost texts. The rows are the truth: a lost message leaves a text in
 * a cache until its entry is replaced, and no reader gets it, because the revision of the run has changed.
 */
export class ErasureNotices extends Context.Service<
  ErasureNotices,
  {
    /** Calls the listeners of this process, and then those of the others. */
    readonly announce: (runId: string) => Effect.Effect<void>
    /** Calls a listener, which must not wait or fail, with each run that has lost texts. */
    readonly listen: (listener: (runId: string) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("runplane/control-plane/ErasureNotices") {
  static readonly layer = Layer.effect(
    ErasureNotices,
    Effect.gen(function* () {
      const channel = yield* ProcessChannel
      const listeners = new Set<(runId: string) => void>()
      const callAll = (runId: string) => {
        for (const listener of listeners) listener(runId)
      }
      yield* channel.listen(SUBJECT, callAll)
      return ErasureNotices.of({
        announce: (runId) =>
          Effect.andThen(
            Effect.sync(() => callAll(runId)),
            channel.send(SUBJECT, runId)
          ),
        listen: (listener) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => listeners.add(listener)),
              () => Effect.sync(() => listeners.delete(listener))
            )
          )
      })
    })
  )
}
