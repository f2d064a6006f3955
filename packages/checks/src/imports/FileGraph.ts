import { posix } from "node:path"
import type { PackageSources } from "../Workspace.ts"
import { importsOf } from "./Imports.ts"

/** Every source file with those it imports by a relative path, as paths within `src`. */
export const fileGraph = (files: PackageSources["files"]): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    files
      .filter(({ path }) => path.startsWith("src/"))
      .map(({ path, text }) => [
        path.slice("src/".length),
        importsOf(text)
          .filter((specifier) => specifier.startsWith("."))
          .map((specifier) => posix.join(posix.dirname(path), specifier).slice("src/".length))
      ])
  )

/**
 * The sets of source files that import each other in a circle, types included; one line each, files in alphabetical
 * order.
 */
export const circlesOf = ({ files, name }: PackageSources): ReadonlyArray<string> =>
  components(fileGraph(files))
    .filter((members) => members.length > 1)
    .map((members) => `packages/${name}/src: ${members.toSorted().join(", ")}`)

/** The strongly connected components of a graph (Tarjan). */
const components = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const open: Array<string> = []
  const found: Array<ReadonlyArray<string>> = []
  const visit = (node: string): number => {
    const own = order.size
    order.set(node, own)
    open.push(node)
    let low = own
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? own)
    }
    if (low === own) found.push(open.splice(open.indexOf(node)))
    return low
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found
}
