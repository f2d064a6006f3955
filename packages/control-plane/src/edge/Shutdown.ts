import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The moment at which the service begins to stop. Responses that would never end by themselves end on it, because the
 * server waits for open responses before it goes (docs/http.md#shutdown).
 */
export class Shutdown extends Context.Service<
  Shutdown,
  {
    readonly begin: Effect.Effect<void>
    readonly begun: Effect.Effect<void>
  }
>()("runplane/control-plane/Shutdown") {
  static readonly layer = Layer.effect(
    Shutdown,
    Effect.gen(function* () {
      const signal = yield* Deferred.make<void>()
      return Shutdown.of({
        begin: Effect.asVoid(Deferred.succeed(signal, undefined)),
        begun: Deferred.await(signal)
      })
    })
  )
}
