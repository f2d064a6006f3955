import { DECLARATION, FOLDERS } from "../declaration/Folders.ts"
import type { Folders } from "../declaration/Rules.ts"
import type { PackageSources } from "../Workspace.ts"
import { fileGraph } from "./FileGraph.ts"

/** An import from one folder of a package into another that its table does not allow. */
export interface WrongArrow {
  /** `package: from > to` */
  readonly arrow: string
  /** The file, what it imports, and what would be allowed. */
  readonly problem: string
}

/** The imports between folders that the tables of the package do not allow; nothing for a package without a table. */
export const wrongArrows = ({ files, name }: PackageSources): ReadonlyArray<WrongArrow> => {
  const graph = fileGraph(files)
  return Object.entries(FOLDERS).flatMap(([table, rules]) => {
    if (table === name) return wrongArrowsOf(name, "", graph, rules)
    const inside = `${name}/src/`
    return table.startsWith(inside) ? wrongArrowsOf(table, `${table.slice(inside.length)}/`, graph, rules) : []
  })
}

/** The wrong arrows inside one folder, `src` itself when `prefix` is empty. */
const wrongArrowsOf = (
  name: string,
  prefix: string,
  graph: ReadonlyMap<string, ReadonlyArray<string>>,
  rules: Folders
): ReadonlyArray<WrongArrow> => {
  const root = prefix === "" ? `packages/${name}/src` : `packages/${name}`
  const inside = (path: string) => path.startsWith(prefix)
  const within = (path: string) => path.slice(prefix.length)
  const unitOf = (path: string) => (path.includes("/") ? (path.split("/")[0] ?? "") : path)
  return [...graph]
    .filter(([path]) => inside(path))
    .flatMap(([path, targets]) => {
      const file = within(path)
      const from = unitOf(file)
      const rule = rules[from]
      // A file beside the folders that has no rule is part of the composition.
      if (rule === undefined && from === file) return []
      if (rule === undefined) {
        return [{ arrow: `${name}: ${from}`, problem: `${root}/${from} has no rule (add it to ${DECLARATION})` }]
      }
      return targets
        .filter(inside)
        .map((target) => ({ path: within(target), to: unitOf(within(target)) }))
        .filter(({ to }) => to !== from && !rule.knows.includes(to))
        .map(({ path: target, to }) => ({
          arrow: `${name}: ${from} > ${to}`,
          problem:
            `${root}/${file} imports ${target}: ${from} must not know ${to}; ` +
            `it may know ${rule.knows.length === 0 ? "nothing" : rule.knows.join(", ")} (${DECLARATION})`
        }))
    })
}
