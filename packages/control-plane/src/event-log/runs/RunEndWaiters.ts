import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { endsRun } from "../subscribe/LiveBatch.ts"
import { LiveEvents } from "../subscribe/LiveEvents.ts"

/**
 * Wakes the callers that wait for the end of a run (docs/reference/runs.md#wait). The commits of the log, in this and
 * other processes, wake them, so a waiting caller costs no query.
 */
export class RunEndWaiters extends Context.Service<
  RunEndWaiters,
  {
    /** Listens from now on; the effect waits until the run has ended, or may have ended. */
    readonly listen: (runId: RunId) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("runplane/control-plane/RunEndWaiters") {
  static readonly layer = Layer.effect(
    RunEndWaiters,
    Effect.gen(function* () {
      const live = yield* LiveEvents
      const waiting = new Map<string, Set<Deferred.Deferred<void>>>()

      const wake = (runId: string) => {
        for (const waiter of waiting.get(runId) ?? []) Deferred.doneUnsafe(waiter, Effect.void)
      }
      yield* live.listen((batch) => {
        if (endsRun(batch)) wake(batch.runId)
      })
      yield* live.listenElsewhere((commit) => {
        if (commit === "anything") for (const runId of waiting.keys()) wake(runId)
        else if (commit.ended) wake(commit.runId)
      })

      const listen = (runId: RunId) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.sync(() => {
              const waiter = Deferred.makeUnsafe<void>()
              waiting.set(runId, (waiting.get(runId) ?? new Set()).add(waiter))
              return waiter
            }),
            (waiter) =>
              Effect.sync(() => {
                const others = waiting.get(runId)
                others?.delete(waiter)
                if (others?.size === 0) waiting.delete(runId)
              })
          ),
          Deferred.await
        )
      return RunEndWaiters.of({ listen })
    })
  )
}
