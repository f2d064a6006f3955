import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { endsRun } from "../subscribe/LiveBatch.ts"
import { LiveEvents } from "../subscribe/LiveEvents.ts"

/**
 * Wakes the callers that wait for the end of a run (docs/reference/http.md#wait). The commits of the log, in this and
 * other processes, wake them, so a waiting caller costs no query.
 */
export class RunEndWaiters extends Context.Service<
  RunEndWaiters,
  {
    /** Listens from now on; the effect waits for word that the run has ended, or may have. */
    readonly listen: (runId: RunId) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("runplane/control-plane/RunEndWaiters") {
  static readonly layer = Layer.effect(
    RunEndWaiters,
    Effect.gen(function* () {
      const live = yield* LiveEvents
      const waiting = new Map<string, Set<Deferred.Deferred<void>>>()

      const wake = (runId: string) => {
        for (const word of waiting.get(runId) ?? []) Deferred.doneUnsafe(word, Effect.void)
      }
      yield* live.listen((batch) => {
        if (endsRun(batch)) wake(batch.runId)
      })
      yield* live.listenElsewhere((word) => {
        if (word === "anything") for (const runId of waiting.keys()) wake(runId)
        else if (word.ended) wake(word.runId)
      })

      const listen = (runId: RunId) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.sync(() => {
              const word = Deferred.makeUnsafe<void>()
              waiting.set(runId, (waiting.get(runId) ?? new Set()).add(word))
              return word
            }),
            (word) =>
              Effect.sync(() => {
                const words = waiting.get(runId)
                words?.delete(word)
                if (words?.size === 0) waiting.delete(runId)
              })
          ),
          Deferred.await
        )
      return RunEndWaiters.of({ listen })
    })
  )
}
