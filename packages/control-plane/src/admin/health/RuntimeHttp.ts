import { ControlPlaneApi, type RuntimeState } from "@runplane/api"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Option from "effect/Option"
import { CHECK_TIMEOUT_MS, RuntimeHealth } from "../../platform/http/RuntimeHealth.ts"
import { answerOfRuntimeError } from "../../platform/http/RuntimeRefusal.ts"

/** The manifest with an empty agent id is the runtime's own. */
const RUNTIME_ITSELF = ""

/** The runtime, read through (docs/reference/admin.md#runtime-endpoints). */
export const RuntimeHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "runtime",
  Effect.fnUntraced(function* (handlers) {
    const health = yield* RuntimeHealth
    const runtime = yield* RuntimeClient
    const read = <A>(call: Effect.Effect<A, RuntimeError>) => Effect.mapError(call, answerOfRuntimeError)

    const state = Effect.gen(function* () {
      const { detail = "", ok, runtimeKind } = yield* health.check
      if (!ok) return { ok, runtimeKind, detail } satisfies RuntimeState
      // An answer of health does without the manifest of a runtime that has none.
      const manifest = yield* Effect.option(Effect.timeout(runtime.getManifest(RUNTIME_ITSELF), CHECK_TIMEOUT_MS))
      const answer: RuntimeState = {
        ok,
        runtimeKind,
        detail,
        ...(Option.isSome(manifest) && { manifest: manifest.value })
      }
      return answer
    })

    return handlers.handleAll({
      manifest: () => read(runtime.getManifest(RUNTIME_ITSELF)),
      modes: () => read(runtime.listModes),
      roots: () => read(runtime.listRoots),
      health: () => state
    })
  })
)
