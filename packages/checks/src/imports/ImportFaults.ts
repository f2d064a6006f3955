import { CIRCLE_EXCEPTIONS, FOLDER_EXCEPTIONS, FOLDERS } from "../declaration/Folders.ts"
import { ARROWS } from "../declaration/Packages.ts"
import { type PackageSources, readWorkspace } from "../Workspace.ts"
import { borrowedErrors } from "./BorrowedErrors.ts"
import { circlesOf } from "./FileGraph.ts"
import { wrongArrows } from "./FolderImports.ts"
import { violations } from "./PackageImports.ts"

/** The imports against the order of packages and folders, and the entries of the declaration without a subject. */
export const importFaults = (workspace: ReadonlyArray<PackageSources> = readWorkspace()): ReadonlyArray<string> => {
  const arrows = workspace.flatMap(wrongArrows)
  const circles = workspace.flatMap(circlesOf)
  return [
    ...workspace.flatMap(violations),
    ...arrows.filter(({ arrow }) => !FOLDER_EXCEPTIONS.includes(arrow)).map(({ problem }) => problem),
    ...circles.filter((circle) => !CIRCLE_EXCEPTIONS.includes(circle)).map((circle) => `${circle} import in a circle`),
    ...borrowedErrors(workspace),
    ...undeclared(workspace),
    ...withoutSubject(workspace),
    ...FOLDER_EXCEPTIONS.filter((known) => arrows.every(({ arrow }) => arrow !== known)).map(unneeded),
    ...CIRCLE_EXCEPTIONS.filter((circle) => !circles.includes(circle)).map(unneeded)
  ]
}

const unneeded = (exception: string) => `the exception "${exception}" is not needed any more`

/** Packages without a rule of their imports, or without a table of their folders. */
const undeclared = (workspace: ReadonlyArray<PackageSources>) =>
  workspace.flatMap(({ files, name }) => {
    const hasFolders = files.some(({ path }) => path.startsWith("src/") && path.split("/").length > 2)
    return [
      ...(name in ARROWS ? [] : [`packages/${name} has no rule of its imports`]),
      ...(hasFolders && !(name in FOLDERS) ? [`packages/${name} has no table of its folders`] : [])
    ]
  })

/** Declared folders that do not exist, and folders that are known but not declared. */
const withoutSubject = (workspace: ReadonlyArray<PackageSources>) =>
  Object.entries(FOLDERS).flatMap(([table, rules]) => {
    const [name = "", ...folders] = table.split("/")
    const root = folders.length === 0 ? "src" : folders.join("/")
    const paths = workspace.find((sources) => sources.name === name)?.files.map(({ path }) => path) ?? []
    return Object.entries(rules).flatMap(([folder, { knows, reads = [] }]) => [
      ...(paths.some((path) => path === `${root}/${folder}` || path.startsWith(`${root}/${folder}/`))
        ? []
        : [`packages/${name}/${root}/${folder} does not exist`]),
      ...[...knows, ...reads]
        .filter((known) => !(known in rules) && !known.endsWith(".ts"))
        .map((known) => `${table}: ${folder} knows ${known}, which has no rule`)
    ])
  })
