import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { launch, launchService, Venue } from "./support/Rehearsal.ts"
import { endingOf } from "./support/Scenes.ts"

/** One scene of each mode: its first, which ends well. */
const FIRST_SCENES = [
  ["incident/region-failover@1.1.0", "degraded-region", "decision.selected, positive"],
  ["release/production-rollout@2.0.0", "healthy-canary", "quorum.approved, positive"],
  ["procurement/supplier-terms@1.0.0", "common-ground", "proposal.accepted, positive"],
  ["privacy/erasure-request@1.0.0", "plain-erasure", "task.completed, positive"],
  ["support/escalation@1.0.0", "double-charge", "handoff.accepted, positive"]
] as const

layer(Layer.provideMerge(launchService, Venue.layerSandbox), { excludeTestServices: true })("an example run", (it) => {
  for (const [ref, fixture, ending] of FIRST_SCENES) {
    it.effect(`of ${ref} starts its agents as processes, which end`, () =>
      Effect.map(launch({ ref, fixture }), (played) => assert.strictEqual(endingOf(played), ending))
    )
  }
})
