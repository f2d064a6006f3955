import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { AgentProfile } from "../catalog/AgentCatalog.ts"
import { OWN_PACKS } from "../catalog/OwnPacks.ts"
import { compareTexts } from "../catalog/VersionOrder.ts"
import type { ScenarioRef } from "../compile/ScenarioRef.ts"
import { type AuthorFolders, copyIncluded, copyOwnCast } from "./CopiedParts.ts"
import { KEBAB_CASE } from "./Lint.ts"
import { packYaml, sampleInputs, scenarioYaml, templateYaml } from "./ScaffoldTexts.ts"

/** A scenario cannot be made under this name, or not from that one. Nothing was written. */
export class ScaffoldRefused extends Data.TaggedError("ScaffoldRefused")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

export interface NewScenario extends ScenarioRef {
  /** Who takes part; the first one opens the session. */
  readonly agents: ReadonlyArray<AgentProfile>
}

/**
 * Writes a scenario that is ready to run, and its pack when there is none yet. Answers the folder. Refuses names that
 * are not kebab-case, and never overwrites.
 */
export const scaffold = Effect.fnUntraced(function* (packsDir: string, { agents, ...at }: NewScenario) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* claimFolder(packsDir, at)
  const write = Effect.fnUntraced(function* (name: string, text: string) {
    const file = path.join(folder, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, text)
  })
  yield* write("scenario.yaml", scenarioYaml(at, agents))
  yield* write("templates/default.yaml", templateYaml(at))
  yield* write("fixtures/sample.json", `${JSON.stringify(sampleInputs, null, 2)}\n`)
  yield* ensurePack(packsDir, at.pack)
  return folder
})

/**
 * The same from a version that exists: its files under the new names, everything else unchanged (`new --from`). A
 * version that the author's packs lack is copied from the packs of Runplane, with its includes.
 */
export const copyScenario = Effect.fnUntraced(function* (folders: AuthorFolders, to: ScenarioRef, from: ScenarioRef) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { packsDir } = folders
  const isThere = (folder: string) => fs.exists(path.join(folder, "scenario.yaml"))
  const own = folderOf(path, OWN_PACKS, from)
  const source = (yield* isThere(folderOf(path, packsDir, from))) ? folderOf(path, packsDir, from) : own
  if (!(yield* isThere(source))) {
    return yield* new ScaffoldRefused({ reason: `there is no scenario ${refOf(from)} to copy` })
  }
  const folder = yield* claimFolder(packsDir, to)
  yield* fs.makeDirectory(path.dirname(folder), { recursive: true })
  yield* fs.copy(source, folder)
  const rewrite = Effect.fnUntraced(function* (file: string, change: (text: string) => string) {
    yield* fs.writeFileString(file, change(yield* fs.readFileString(file)))
  })
  yield* rewrite(path.join(folder, "scenario.yaml"), (text) => renamedScenario(text, to))
  const templates = path.join(folder, "templates")
  const names = (yield* fs.exists(templates)) ? yield* fs.readDirectory(templates) : []
  const files = names
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .toSorted(compareTexts)
    .map((name) => path.join("templates", name))
  yield* Effect.forEach(files, (file) => rewrite(path.join(folder, file), (text) => renamedTemplate(text, to)), {
    discard: true
  })
  yield* ensurePack(packsDir, to.pack)
  const included = yield* copyIncluded(
    ["scenario.yaml", ...files].map((file) => [path.join(source, file), path.join(folder, file)])
  )
  return { folder, copied: [...included, ...(source === own ? yield* copyOwnCast(own, folders) : [])] }
})

const claimFolder = Effect.fnUntraced(function* (packsDir: string, at: ScenarioRef) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of [at.pack, at.scenario]) {
    if (!KEBAB_CASE.test(name)) {
      return yield* new ScaffoldRefused({ reason: `"${name}" must be kebab-case: small letters, digits and dashes` })
    }
  }
  if (!VERSION.test(at.version)) {
    return yield* new ScaffoldRefused({ reason: `"${at.version}" must be a version such as 1.0.0` })
  }
  const folder = folderOf(path, packsDir, at)
  if (yield* fs.exists(folder)) return yield* new ScaffoldRefused({ reason: `${refOf(at)} exists already` })
  return folder
})

/** Also a guard: a version becomes a folder's name. */
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+-]*$/

const ensurePack = Effect.fnUntraced(function* (packsDir: string, pack: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(packsDir, pack, "pack.yaml")
  if (!(yield* fs.exists(file))) yield* fs.writeFileString(file, packYaml(pack))
})

const folderOf = (path: Path.Path, packsDir: string, at: ScenarioRef) =>
  path.join(packsDir, at.pack, "scenarios", at.scenario, at.version)

const refOf = (at: ScenarioRef) => `${at.pack}/${at.scenario}@${at.version}`

/** Line by line, because parsing and printing would lose comments and includes. */
const renamedScenario = (text: string, to: ScenarioRef) => {
  let inMetadata = false
  return text
    .split("\n")
    .map((line) => {
      if (/^\S/.test(line)) inMetadata = line.startsWith("metadata:")
      const key = inMetadata ? /^ {2}(pack|scenario|version):/.exec(line)?.[1] : undefined
      return key === "pack" || key === "scenario" || key === "version" ? `  ${key}: ${to[key]}` : line
    })
    .join("\n")
}

const renamedTemplate = (text: string, to: ScenarioRef) => text.replace(/^( +scenarioVersion:).*$/m, `$1 ${refOf(to)}`)
