import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Lets a notice of an agent end the pause before its task is read again. A turn that is not here runs elsewhere. */
export class TurnWakes extends Context.Service<
  TurnWakes,
  {
    /** Completes at the next wake of a turn. */
    readonly next: (item: string) => Effect.Effect<void>
    readonly wake: (item: string) => Effect.Effect<void>
  }
>()("runplane/launcher/TurnWakes") {
  static readonly layer = Layer.sync(TurnWakes, () => {
    const waiting = new Map<string, Deferred.Deferred<void>>()
    return TurnWakes.of({
      next: (item) =>
        Effect.suspend(() => {
          const wake = Deferred.makeUnsafe<void>()
          waiting.set(item, wake)
          return Effect.ensuring(
            Deferred.await(wake),
            Effect.sync(() => {
              if (waiting.get(item) === wake) waiting.delete(item)
            })
          )
        }),
      wake: (item) =>
        Effect.suspend(() => {
          const wake = waiting.get(item)
          return wake === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(wake, undefined))
        })
    })
  })
}
