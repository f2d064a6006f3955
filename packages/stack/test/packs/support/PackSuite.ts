import { assert, layer } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { disagreements } from "./Disagreements.ts"
import { launchService, play, policyFiles, type Venue } from "./Rehearsal.ts"
import { type Ending, endingOf, SCENES, sceneOf } from "./Scenes.ts"

/** Scenes that are played at once: most of their time is waiting. */
const AT_ONCE = 8

/** The end of a scene, and the faults in the record of it; a scene that failed has the reason. */
interface Ended {
  readonly ending: Ending
  readonly disagreements: ReadonlyArray<string>
}

/** How every scene ended, by scenario, in the order of `SCENES`. */
class Endings extends Context.Service<Endings, ReadonlyMap<string, ReadonlyArray<Ended>>>()(
  "runplane/stack/test/Endings"
) {
  static readonly layer = Layer.effect(
    Endings,
    Effect.gen(function* () {
      const scenes = Object.entries(SCENES).flatMap(([ref, rows]) => rows.map((row) => sceneOf(ref, row)))
      const policies = policyFiles()
      const endings = yield* Effect.forEach(
        scenes,
        (scene) =>
          play(scene).pipe(
            Effect.map((played) => ({
              ending: endingOf(played),
              disagreements: disagreements(played, policies).map((one) => `${scene.fixture}: ${one}`)
            })),
            Effect.catchCause((cause) =>
              Effect.succeed({ ending: `failed: ${Cause.pretty(cause)}`, disagreements: [] })
            )
          ),
        { concurrency: AT_ONCE }
      )
      const byScenario = new Map<string, Array<Ended>>()
      for (const [position, { ref }] of scenes.entries()) {
        const ended = endings[position] ?? { ending: "not played", disagreements: [] }
        byScenario.set(ref, [...(byScenario.get(ref) ?? []), ended])
      }
      return byScenario
    })
  )
}

/**
 * Every fixture of every pack, from the launch service's compiler to the end of the session, on one kind of runtime.
 */
export const packSuite = <E>(name: string, venue: Layer.Layer<Venue, E>) =>
  layer(Layer.provide(Endings.layer, Layer.provideMerge(launchService, venue)), {
    excludeTestServices: true,
    timeout: "180 seconds"
  })(name, (it) => {
    for (const [ref, scenes] of Object.entries(SCENES)) {
      it.effect(`${ref} ends as its fixtures want it`, () =>
        Effect.map(Endings, (endings) =>
          assert.deepStrictEqual(
            scenes.map(([fixture, template], position) => [fixture, template, endings.get(ref)?.[position]?.ending]),
            scenes.map(([fixture, template, ending]) => [fixture, template, ending])
          )
        )
      )

      it.effect(`${ref} is forecast and explained as the runtime took it`, () =>
        Effect.map(Endings, (endings) => {
          const played = endings.get(ref) ?? []
          assert.deepStrictEqual(
            played.flatMap((ended) => ended.disagreements),
            []
          )
        })
      )
    }
  })
