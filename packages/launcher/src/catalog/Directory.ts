import type { LauncherFault } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PeopleDocument } from "./PackDocuments.ts"
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
    /** The people of the pack of a scenario; none for a pack without a directory. */
    readonly peopleOf: (scenarioRef: string) => Effect.Effect<PeopleDocument["people"], LauncherFault>
  }
>()("runplane/launcher/Directory") {
  static readonly layer = Layer.effect(
    Directory,
    Effect.gen(function* () {
      const { catalog } = yield* PackRegistry
      return Directory.of({
        peopleOf: (scenarioRef) =>
          Effect.map(catalog, ({ packs }) => {
            const pack = scenarioRef.split("/")[0]
            return packs.find(({ slug }) => slug === pack)?.people ?? {}
          }),
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
          )
      })
    })
  )
}
