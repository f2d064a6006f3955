import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import * as Schema from "effect/Schema"
import type { PackageSources, SourceFile } from "./ImportRules.ts"

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url))

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
