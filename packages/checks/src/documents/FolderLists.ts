import { DECLARATION, FOLDERS } from "../declaration/Folders.ts"
import type { Folders, FolderTables } from "../declaration/Rules.ts"
import { read } from "../Repository.ts"

/** The lines of a README around the list of its folders. */
const BEGIN = `<!-- Folders: made from ${DECLARATION} by npm run generate. -->`
const END = "<!-- End of the folders. -->"

/** A folder, or a file beside the folders, with its depth in the list. */
interface Entry {
  readonly name: string
  readonly depth: number
  readonly meaning: string
}

const entriesOf = (table: string, tables: FolderTables, depth: number): ReadonlyArray<Entry> => {
  const folders: Folders = tables[table] ?? {}
  const root = table.includes("/") ? table : `${table}/src`
  return Object.entries(folders).flatMap(([folder, { meaning }]) => [
    { name: folder.endsWith(".ts") ? folder : `${folder}/`, depth, meaning },
    ...entriesOf(`${root}/${folder}`, tables, depth + 1)
  ])
}

/** The folders of a package as an indented block, from the top to the bottom. */
export const folderList = (name: string, tables: FolderTables = FOLDERS): string => {
  const entries = entriesOf(name, tables, 0).map((entry) => ({ ...entry, name: "  ".repeat(entry.depth) + entry.name }))
  const width = Math.max(...entries.map((entry) => entry.name.length)) + 2
  return entries.map((entry) => `    ${entry.name.padEnd(width)}${entry.meaning}\n`).join("")
}

/** A README with a fresh list between its marks. */
export const withFolderList = (file: string, text: string, list: string): string => {
  const [before, rest, ...more] = text.split(`${BEGIN}\n`)
  const [, after] = rest?.split(`${END}\n`) ?? []
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${file} has no list of its folders; it needs the lines\n${BEGIN}\n${END}`)
  }
  return `${before}${BEGIN}\n\n${list}\n${END}\n${after}`
}

/** The README of each package with declared folders, by its path. */
export const readmes = (): ReadonlyMap<string, string> =>
  new Map(
    Object.keys(FOLDERS)
      .filter((table) => !table.includes("/"))
      .map((name) => {
        const file = `packages/${name}/README.md`
        return [file, withFolderList(file, read(file).replaceAll("\r\n", "\n"), folderList(name))]
      })
  )
