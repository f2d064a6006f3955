import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Kernel } from "../kernel/Kernel.ts"
import { SessionNotFound } from "../kernel/KernelFailure.ts"
import type { Fault } from "./Fault.ts"
import { type ActiveFault, FaultPlan } from "./FaultPlan.ts"

/** Makes things go wrong on purpose while the sandbox runs, for tests of the clients that have to cope. */
export class SandboxFaults extends Context.Service<
  SandboxFaults,
  {
    /** Puts a fault in force and gives its id. It also reaches streams that are open already. */
    readonly inject: (fault: Fault) => Effect.Effect<number>
    /** False when the fault does not exist, or no longer. */
    readonly remove: (id: number) => Effect.Effect<boolean>
    readonly clear: Effect.Effect<void>
    readonly active: Effect.Effect<ReadonlyArray<ActiveFault>>
    /**
     * Makes everything a session has accepted so far unavailable to later subscriptions, as a compacting store does at
     * a terminal state (docs/internals/runtime.md#compaction). Open subscriptions are not touched.
     */
    readonly compactHistory: (sessionId: string) => Effect.Effect<void, SessionNotFound>
    /** The streams call it for every frame. */
    readonly plan: FaultPlan
  }
>()("runplane/sandbox/SandboxFaults") {
  static readonly layer: Layer.Layer<SandboxFaults, never, Kernel> = Layer.effect(
    SandboxFaults,
    Effect.map(Kernel, (kernel) => {
      const plan = new FaultPlan()
      return SandboxFaults.of({
        inject: (fault) => Effect.sync(() => plan.add(fault)),
        remove: (id) => Effect.sync(() => plan.remove(id)),
        clear: Effect.sync(() => plan.clear()),
        active: Effect.sync(() => plan.active),
        compactHistory: Effect.fn("SandboxFaults.compactHistory")(function* (sessionId: string) {
          const session = kernel.find(sessionId)
          if (session === undefined) return yield* new SessionNotFound({ sessionId })
          session.log.hideHistory()
        }),
        plan
      })
    })
  )
}
