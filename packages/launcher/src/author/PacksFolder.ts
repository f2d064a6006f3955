import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { openPackFiles } from "../catalog/PackFiles.ts"
import { compareTexts } from "../catalog/VersionOrder.ts"
import { isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import type { Source } from "./Finding.ts"

/** A file as it could be read: its content, or why there is none. */
export type Reading = Source & ({ readonly content: Json | undefined } | { readonly problem: string })

/** Everything that belongs to one scenario version, read but not judged. */
export interface ScenarioFolder {
  /** Relative to the packs directory, as all names here. */
  readonly folder: string
  readonly scenario: Reading
  readonly templates: ReadonlyArray<Reading>
  readonly fixtures: ReadonlyArray<Reading>
  /** Files in `data/` that no `!include` of this folder names. */
  readonly unusedData: ReadonlyArray<string>
}

/** The packs directory as the tools walk it: each file is read by itself, so that one broken file hides no other. */
export interface PacksFolder {
  readonly nameOf: (path: string) => string
  readonly read: (path: string) => Effect.Effect<Reading>
  /**
   * Absolute paths of the entries, sorted by name, without those that begin with a dot; none when the directory does
   * not exist.
   */
  readonly list: (directory: string) => Effect.Effect<ReadonlyArray<string>>
  readonly isFile: (path: string) => Effect.Effect<boolean>
  readonly exists: (path: string) => Effect.Effect<boolean>
  /** Reads the folder `<scenario-slug>/<version>` at an absolute path. */
  readonly scenario: (directory: string) => Effect.Effect<ScenarioFolder>
}

/** Opens a packs directory; `!include` resolves as in the service. */
export const openPacks = Effect.fnUntraced(function* (packsDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = yield* openPackFiles(packsDir)

  const read = (file: string): Effect.Effect<Reading> =>
    files.read(file).pipe(
      Effect.flatMap((content) =>
        Effect.map(files.readText(file), (text) => ({ file: files.nameOf(file), text, content }))
      ),
      Effect.catchTags({
        InvalidPackData: ({ message }) => Effect.succeed({ file: files.nameOf(file), problem: message }),
        UnreadableFile: ({ message }) => Effect.succeed({ file: files.nameOf(file), problem: message })
      })
    )

  const list = (directory: string) =>
    fs.readDirectory(directory).pipe(
      Effect.orElseSucceed((): Array<string> => []),
      Effect.map((names) =>
        names
          .filter((name) => !name.startsWith("."))
          .toSorted(compareTexts)
          .map((name) => path.join(directory, name))
      )
    )

  const isFile = (file: string) =>
    fs.stat(file).pipe(
      Effect.map((info) => info.type === "File"),
      Effect.orElseSucceed(() => false)
    )

  const exists = (file: string) => Effect.orElseSucceed(fs.exists(file), () => true)

  const named = (directory: string, pattern: RegExp) =>
    Effect.map(list(directory), (entries) => entries.filter((entry) => pattern.test(entry)))

  const scenario = Effect.fnUntraced(function* (directory: string) {
    const scenarioFile = path.join(directory, "scenario.yaml")
    const templates = yield* named(path.join(directory, "templates"), /\.ya?ml$/)
    const fixtures = yield* named(path.join(directory, "fixtures"), /\.json$/)
    const folder: ScenarioFolder = {
      folder: files.nameOf(directory),
      scenario: yield* read(scenarioFile),
      templates: yield* Effect.forEach(templates, read),
      fixtures: yield* Effect.forEach(fixtures, read),
      unusedData: yield* unusedIn(path.join(directory, "data"), [scenarioFile, ...templates])
    }
    return folder
  })

  // By the text and not by the parsed value: an unparseable file still names its includes.
  const unusedIn = Effect.fnUntraced(function* (data: string, readers: ReadonlyArray<string>) {
    const present = yield* Effect.filter(yield* list(data), isFile)
    const including = [...readers, ...present.filter((file) => /\.ya?ml$/i.test(file))]
    const used = new Set<string>()
    for (const file of including) {
      const text = yield* Effect.orElseSucceed(fs.readFileString(file), () => "")
      for (const [, target = ""] of text.matchAll(INCLUDE)) used.add(path.resolve(path.dirname(file), target))
    }
    return present.filter((file) => !used.has(file)).map(files.nameOf)
  })

  const folder: PacksFolder = { nameOf: files.nameOf, read, list, isFile, exists, scenario }
  return folder
})

/** An include in the text of a YAML file; its group is the target. */
export const INCLUDE = /!include\s+["']?([^\s"',}\]]+)/g

/** The mapping that a file holds, if it holds one. */
export const mappingOf = (reading: Reading): JsonObject | undefined =>
  "content" in reading && reading.content !== undefined && isJsonObject(reading.content) ? reading.content : undefined

/** The object at the end of a path of keys; an empty one when the path leads nowhere or to something else. */
export const objectAt = (root: JsonObject | undefined, ...path: ReadonlyArray<string>): JsonObject => {
  let object = root ?? {}
  for (const key of path) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined
    object = isJsonObject(value) ? value : {}
  }
  return object
}
