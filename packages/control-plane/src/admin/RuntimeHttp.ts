import { ControlPlaneApi, type RuntimeState } from "@runplane/api"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Option from "effect/Option"
import { withoutEdgeAnswers } from "../http/EdgeAnswers.ts"
import { answerOfRuntimeError } from "../runs/RuntimeRefusal.ts"
import { CHECK_TIMEOUT_MS, Health } from "./Health.ts"

/** The manifest with an empty agent id is the runtime's own (runtime-wire section 1.8). */
const RUNTIME_ITSELF = ""

/** The runtime, read through (run-control-plane "Runtime and policies"; http-details section 11). */
export const RuntimeHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "runtime",
  Effect.fn(function* (handlers) {
    const health = yield* Health
    const runtime = yield* RuntimeClient
    const read = <A>(call: Effect.Effect<A, RuntimeError>) =>
      withoutEdgeAnswers(Effect.mapError(call, answerOfRuntimeError))

    const state = Effect.gen(function* () {
      const { detail = "", ok, runtimeKind } = yield* health.runtime
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
