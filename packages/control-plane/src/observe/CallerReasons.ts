import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What callers ask for. */
export type AskedStatus = "suspended" | "running" | "cancelled"

/**
 * Why callers of this process suspend, resume or cancel runs just now. The runtime tells no reasons, and the observer
 * often hears of the change before the caller's request is through: whoever writes the event first finds the caller's
 * reason here.
 */
export class CallerReasons extends Context.Service<
  CallerReasons,
  {
    /** Makes the reason known for as long as the effect runs. */
    readonly during: (
      runId: RunId,
      to: AskedStatus,
      reason: string | undefined
    ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    readonly of: (runId: RunId, to: AskedStatus) => string | undefined
  }
>()("runplane/control-plane/CallerReasons") {
  static readonly layer = Layer.sync(CallerReasons, () => {
    const reasons = new Map<string, { readonly reason: string }>()
    const keyOf = (runId: RunId, to: AskedStatus) => `${runId} ${to}`
    return CallerReasons.of({
      during: (runId, to, reason) => (effect) => {
        if (reason === undefined) return effect
        const key = keyOf(runId, to)
        return Effect.suspend(() => {
          const own = { reason }
          reasons.set(key, own)
          // Another caller may have asked for the same since, and still be at it.
          const forget = Effect.sync(() => reasons.get(key) === own && reasons.delete(key))
          return Effect.ensuring(effect, forget)
        })
      },
      of: (runId, to) => reasons.get(keyOf(runId, to))?.reason
    })
  })
}
