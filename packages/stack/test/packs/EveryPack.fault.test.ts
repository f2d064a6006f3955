import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { packSuite } from "./support/PackSuite.ts"
import { allScenarios, fixturesOf, launch, launchService, type Played, play, Venue } from "./support/Rehearsal.ts"
import { endingOf, SCENES } from "./support/Scenes.ts"

packSuite("the scenario packs on the sandbox", Venue.layerSandbox)

describe("the scenes", () => {
  it("are every fixture of every scenario, and each scenario ends in more than one way", () => {
    assert.sameMembers(Object.keys(SCENES), [...allScenarios()])
    for (const [ref, scenes] of Object.entries(SCENES)) {
      assert.sameMembers([...new Set(scenes.map(([fixture]) => fixture))], [...fixturesOf(ref)], ref)
      assert.isAtLeast(new Set(scenes.map(([, , ending]) => ending)).size, 3, ref)
    }
  })
})

layer(Layer.provideMerge(launchService, Venue.layerSandbox), { excludeTestServices: true })("an example", (it) => {
  const scene = { ref: "procurement/supplier-terms@1.0.0", fixture: "common-ground" }

  it.effect("is the same session for the same seed, and another one for another seed", () =>
    Effect.gen(function* () {
      const [first, again, other] = yield* Effect.forEach(["a", "a", "b"], (seed) => play({ ...scene, seed }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(saidBySender(again), saidBySender(first))
      assert.notDeepEqual(saidBySender(other), saidBySender(first))
      assert.strictEqual(other && endingOf(other), first && endingOf(first))
    })
  )

  it.effect("runs with its agents as processes", () =>
    Effect.gen(function* () {
      const played = yield* launch({ ref: "privacy/erasure-request@1.0.0", fixture: "second-engineer" })
      assert.deepStrictEqual([played.agents, endingOf(played)], [3, "task.completed, positive"])
    })
  )
})

/** What each participant said, in its own order: the orders of different participants depend on the network. */
const saidBySender = (played: Played | undefined) => {
  const said: Record<string, Array<string>> = {}
  for (const { messageType, payload, sender } of played?.history ?? []) {
    const words = said[sender] ?? []
    words.push(`${messageType} ${Buffer.from(payload).toString("base64")}`)
    said[sender] = words
  }
  return said
}
