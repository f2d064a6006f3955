import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import * as Schema from "effect/Schema"
import { ROOT } from "./Repository.ts"

/** A source file of a package; the path is relative to the package, with slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** A package with its files. */
export interface PackageSources {
  /** Name without the scope: `domain`. */
  readonly name: string
  /** Names in `dependencies` and, for tests, what they may use besides. */
  readonly dependencies: ReadonlySet<string>
  readonly testDependencies: ReadonlySet<string>
  readonly files: ReadonlyArray<SourceFile>
}

const Names = Schema.Record(Schema.String, Schema.String)
const Manifest = Schema.fromJsonString(
  Schema.Struct({
    dependencies: Schema.optionalKey(Names),
    // What is used when it is installed.
    peerDependencies: Schema.optionalKey(Names),
    devDependencies: Schema.optionalKey(Names)
  })
)
const readManifest = (folder: string) =>
  Schema.decodeUnknownSync(Manifest)(readFileSync(join(folder, "package.json"), "utf8"))

/** Every package of the workspace with its sources and tests; generated code is left out. */
export const readWorkspace = (): ReadonlyArray<PackageSources> => {
  const shared = Object.keys(readManifest(ROOT).devDependencies ?? {})
  return readdirSync(join(ROOT, "packages"))
    .filter((name) => existsSync(join(ROOT, "packages", name, "package.json")))
    .map((name) => {
      const folder = join(ROOT, "packages", name)
      const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = readManifest(folder)
      const own = [...Object.keys(dependencies), ...Object.keys(peerDependencies)]
      return {
        name,
        dependencies: new Set(own),
        testDependencies: new Set([...own, ...Object.keys(devDependencies), ...shared]),
        files: ["src", "test"].flatMap((part) => sourcesIn(folder, join(folder, part)))
      }
    })
}

const sourcesIn = (base: string, folder: string): ReadonlyArray<SourceFile> =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) return entry.name === "gen" ? [] : sourcesIn(base, path)
        if (!/\.(ts|tsx|mts)$/.test(entry.name)) return []
        return [{ path: relative(base, path).split(sep).join("/"), text: readFileSync(path, "utf8") }]
      })
    : []
