import { DEFAULT_POLICY_ID } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { compileInputSchema } from "../catalog/InputSchema.ts"
import { OWN_PACKS } from "../catalog/OwnPacks.ts"
import type { LauncherSettingsShape } from "../LauncherSettings.ts"
import { INCLUDE, openPacks } from "./PacksFolder.ts"
import { agentsOf, checkScenario, plansOf } from "./ScenarioChecks.ts"

/** The folders of an author; absolute. */
export type AuthorFolders = Pick<LauncherSettingsShape, "packsDir" | "agentsDir" | "policiesDir">

type Copy = readonly [source: string, target: string]

/** Copies agents of Runplane, profile and manifest, to the author's agents. Returns the files that are new. */
export const copyOwnAgents = Effect.fnUntraced(function* (refs: ReadonlyArray<string>, { agentsDir }: AuthorFolders) {
  const path = yield* Path.Path
  const files = [...new Set(refs)].flatMap((ref) => ["profiles", "manifests"].map((kind) => `${kind}/${ref}.json`))
  return yield* copyMissing(files.map((file) => [path.join(OWN_PACKS, "_agents", file), path.join(agentsDir, file)]))
})

/**
 * Copies the agents and the policies of a scenario of Runplane's own packs to the author's. `directory` is the absolute
 * path of the version. Returns the files that are new; a file of the author's with the same name stays as it is.
 */
export const copyOwnCast = Effect.fnUntraced(function* (directory: string, to: AuthorFolders) {
  const path = yield* Path.Path
  const own = yield* openPacks(OWN_PACKS)
  const { checked } = checkScenario(yield* own.scenario(directory), {
    compileSchema: compileInputSchema,
    knowsAgent: () => true,
    undescribedCommitment: "warning"
  })
  if (checked === undefined) return []
  const policies = plansOf(checked).flatMap(({ launch: { policyVersion } }) =>
    policyVersion === undefined || policyVersion === DEFAULT_POLICY_ID ? [] : [`${policyVersion}.json`]
  )
  const copied = yield* copyMissing(
    policies.map((file) => [path.join(OWN_PACKS, "_policies", file), path.join(to.policiesDir, file)])
  )
  return [...copied, ...(yield* copyOwnAgents(agentsOf(checked), to))]
})

/**
 * Copies what the sources include to where the same includes lead from the targets. Sources and targets are the files
 * of a version before and after it was copied. Returns the files that are new.
 */
export const copyIncluded = Effect.fnUntraced(function* (copies: ReadonlyArray<Copy>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const copied: Array<string> = []
  const seen = new Set<string>()
  const left = [...copies]
  for (let copy = left.pop(); copy !== undefined; copy = left.pop()) {
    const [source, target] = copy
    const text = yield* Effect.orElseSucceed(fs.readFileString(source), () => "")
    for (const [, name = ""] of text.matchAll(INCLUDE)) {
      const included: Copy = [path.resolve(path.dirname(source), name), path.resolve(path.dirname(target), name)]
      if (seen.has(included[1])) continue
      seen.add(included[1])
      left.push(included)
      copied.push(...(yield* copyMissing([included])))
    }
  }
  return copied
})

/** Each source that exists, to a target that does not. Returns the targets. */
const copyMissing = Effect.fnUntraced(function* (copies: ReadonlyArray<Copy>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const copied: Array<string> = []
  for (const [source, target] of copies) {
    if ((yield* fs.exists(target)) || !(yield* fs.exists(source))) continue
    yield* fs.makeDirectory(path.dirname(target), { recursive: true })
    yield* fs.copyFile(source, target)
    copied.push(target)
  }
  return copied
})
