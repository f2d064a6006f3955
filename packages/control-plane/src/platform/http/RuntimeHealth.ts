import type { Readiness } from "@runplane/api"
import { RuntimeClient } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A dependency that does not answer within this time does not work. Milliseconds. */
export const CHECK_TIMEOUT_MS = 2_000

/** The runtime's kind with its address, or with why it does not answer. */
export type RuntimeCheck = Readiness["runtime"]

/** Whether the runtime answers. The check never fails; it says `ok: false`. */
export class RuntimeHealth extends Context.Service<RuntimeHealth, { readonly check: Effect.Effect<RuntimeCheck> }>()(
  "runplane/control-plane/RuntimeHealth"
) {
  static readonly layer = Layer.effect(
    RuntimeHealth,
    Effect.gen(function* () {
      const client = yield* RuntimeClient
      const unhealthy = (detail: string): RuntimeCheck => ({ ok: false, runtimeKind: client.kind, detail })
      const check = client.initialize.pipe(
        Effect.map(
          (): RuntimeCheck => ({ ok: true, runtimeKind: client.kind, detail: `connected to ${client.address}` })
        ),
        Effect.catch((error) => Effect.succeed(unhealthy(error.message))),
        Effect.timeoutOrElse({
          duration: CHECK_TIMEOUT_MS,
          orElse: () => Effect.succeed(unhealthy(`no answer within ${CHECK_TIMEOUT_MS} ms`))
        })
      )
      return RuntimeHealth.of({ check })
    })
  )
}
