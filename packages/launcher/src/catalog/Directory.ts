import type { LauncherFault } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PackRegistry } from "./PackRegistry.ts"

/**
 * The people of the packs, as their `people.yaml` files are now. The groups of a pack's file count for the items of
 * that pack alone.
 */
export class Directory extends Context.Service<
  Directory,
  {
    /** The groups of a person by the slug of the pack, without the packs that do not name the person. */
    readonly groupsOf: (personId: string) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, LauncherFault>
    /** The persons of the pack of a scenario, with their groups; empty for a pack without the file. */
    readonly peopleOf: (
      scenarioRef: string
    ) => Effect.Effect<ReadonlyArray<{ readonly id: string; readonly groups: ReadonlyArray<string> }>, LauncherFault>
  }
>()("runplane/launcher/Directory") {
  static readonly layer = Layer.effect(
    Directory,
    Effect.gen(function* () {
      const { catalog } = yield* PackRegistry
      return Directory.of({
        groupsOf: (personId) =>
          Effect.map(
            catalog,
            ({ packs }) =>
              new Map(
                packs.flatMap(({ people, slug }) => {
                  const found = people !== undefined && Object.hasOwn(people, personId) ? people[personId] : undefined
                  return found === undefined ? [] : [[slug, found.groups ?? []] as const]
                })
              )
          ),
        peopleOf: (scenarioRef) =>
          Effect.map(catalog, ({ packs }) => {
            const [wanted] = scenarioRef.split("/")
            const people = packs.find(({ slug }) => slug === wanted)?.people ?? {}
            return Object.entries(people).map(([id, { groups = [] }]) => ({ id, groups }))
          })
      })
    })
  )
}
