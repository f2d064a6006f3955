import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerObservedStack } from "./support/ObservedStack.ts"
import { assertConvergence, seedsToTry } from "./support/Trial.ts"

it.live("converges in every trouble and every mixture of troubles", () =>
  assertConvergence(seedsToTry(150)).pipe(Effect.provide(layerObservedStack()))
)

it.live("converges while all watches and connections are cut again and again", () =>
  assertConvergence(seedsToTry(75), { unrest: true }).pipe(Effect.provide(layerObservedStack()))
)

it.live("converges on a runtime that writes its own messages into the history", () =>
  assertConvergence(seedsToTry(50)).pipe(Effect.provide(layerObservedStack({ annotateStream: true })))
)

it.live("marks the missed messages on a runtime that drops the history of ended sessions", () =>
  assertConvergence(seedsToTry(50), { forgetful: true }).pipe(
    Effect.provide(layerObservedStack({ compactOnTerminal: true, release: "0.6.1" }))
  )
)
