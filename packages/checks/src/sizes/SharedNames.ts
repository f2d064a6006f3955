import { isOwnCode, trackedFiles } from "../Repository.ts"
import { SHARED_NAMES, type SharedName } from "./SizeExceptions.ts"

/** Every package may have these more than once: they compose a folder, or start a program. */
const COMMON = new Set(["index.ts", "main.ts", "main.tsx"])

/** The names that several of the files have, by package, each with its files. */
export const sharedNames = (files: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const byName = new Map<string, ReadonlyArray<string>>()
  for (const file of files) {
    const [, home] = /^packages\/([^/]+)\//.exec(file) ?? []
    const name = file.slice(file.lastIndexOf("/") + 1)
    if (home === undefined || COMMON.has(name)) continue
    const key = `${home}/${name}`
    byName.set(key, [...(byName.get(key) ?? []), file])
  }
  return new Map([...byName].filter(([, paths]) => paths.length > 1))
}

/** A line for each name that several files of a package have, so that a name alone does not find the file. */
export const repeatedNames = (exceptions: ReadonlyArray<SharedName> = SHARED_NAMES): ReadonlyArray<string> => {
  const shared = sharedNames(trackedFiles().filter(isOwnCode))
  const excepted = new Set(exceptions.map((each) => `${each.package}/${each.name}`))
  return [
    ...[...shared]
      .filter(([key]) => !excepted.has(key))
      .map(([, files]) => `these files of a package have one name: ${files.join(", ")}`),
    ...[...excepted].filter((key) => !shared.has(key)).map((key) => `packages/${key} is one file: remove its exception`)
  ]
}
