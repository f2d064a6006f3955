import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readSetting } from "./settings/ReadSettings.ts"
import { ServiceSettings } from "./settings/ServiceSettings.ts"

/**
 * The end of a service in its three steps (docs/reference/http.md#shutdown): readiness says no while requests are still
 * served for `SHUTDOWN_DELAY_MS`; then responses that would never end by themselves end, because the server waits for
 * open responses; then the server goes.
 */
export class Shutdown extends Context.Service<
  Shutdown,
  {
    /** Waits for the delay, then ends the open streams. */
    readonly begin: Effect.Effect<void>
    /** True from the first moment of `begin`. */
    readonly stopping: Effect.Effect<boolean>
    /** Ends when streams have to end. */
    readonly begun: Effect.Effect<void>
  }
>()("runplane/server/Shutdown") {
  static readonly layer = Layer.effect(
    Shutdown,
    Effect.gen(function* () {
      const delayMs = yield* readSetting(ServiceSettings.SHUTDOWN_DELAY_MS)
      const requested = yield* Deferred.make<void>()
      const signal = yield* Deferred.make<void>()
      const begin = Effect.gen(function* () {
        if (!(yield* Deferred.succeed(requested, undefined))) return yield* Deferred.await(signal)
        yield* Effect.logInfo(delayMs === 0 ? "stopping" : `stopping in ${delayMs} ms, not ready any more`)
        yield* Effect.sleep(delayMs)
        yield* Deferred.succeed(signal, undefined)
      })
      return Shutdown.of({ begin, stopping: Deferred.isDone(requested), begun: Deferred.await(signal) })
    })
  )
}
