import type { PackageSources } from "../Workspace.ts"

/** A class of `Data.TaggedError`, and the field `_tag` of a class of the contract; each names its tag. */
const OWNED = [/export class \w+ extends Data\.TaggedError\("(\w+)"\)/g, /^ {2}readonly _tag = "(\w+)"$/gm]

/** The tags of a type that is written as a record with the field `_tag`. */
const DECLARED = /readonly _tag: ((?:"\w+"(?: \| )?)+)/g

/**
 * The types that describe the error of another file by its shape instead of importing its class, one line each. A shape
 * goes on to compile when the class has changed.
 */
export const borrowedErrors = (workspace: ReadonlyArray<PackageSources>): ReadonlyArray<string> => {
  const files = workspace.flatMap(({ files, name }) =>
    files.flatMap(({ path, text }) => (path.startsWith("src/") ? [{ path: `packages/${name}/${path}`, text }] : []))
  )
  const owners = new Map<string, ReadonlyArray<string>>()
  for (const { path, text } of files) {
    for (const [, tag = ""] of OWNED.flatMap((pattern) => [...text.matchAll(pattern)])) {
      owners.set(tag, [...(owners.get(tag) ?? []), path])
    }
  }
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(DECLARED)]
      .flatMap(([, tags = ""]) => [...tags.matchAll(/\w+/g)].map(([tag]) => tag))
      .flatMap((tag) => {
        const owner = owners.get(tag)
        if (owner === undefined || owner.includes(path)) return []
        return [`${path} declares _tag "${tag}": import the error from ${owner.join(" or ")}`]
      })
  )
}
