import { globSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import { type MdastNode, markdownToMdast } from "satteri"
import { fileAt, PAGES, pageId, ROOT } from "./Pages.ts"

const INDEX = "docs/README.md"
const GUIDES = "docs/guides/README.md"

/** A page with the text of its link. */
interface Listed {
  readonly file: string
  readonly label: string
}

/** An entry of the navigation: a page, or a page with the pages of its folder. */
type Item = { readonly label: string; readonly slug: string } | Group
interface Group {
  readonly label: string
  readonly collapsed?: boolean
  readonly items: Array<Item>
}

const childrenOf = (node: MdastNode): ReadonlyArray<MdastNode> => ("children" in node ? node.children : [])

const textOf = (node: MdastNode): string =>
  "value" in node && typeof node.value === "string" ? node.value : childrenOf(node).map(textOf).join("")

/** The links of a node to other documents, in their order. */
const documentsIn = (from: string, node: MdastNode): ReadonlyArray<Listed> => {
  if (node.type !== "link") return childrenOf(node).flatMap((child) => documentsIn(from, child))
  const [target = ""] = node.url.split("#")
  const file = fileAt(from, target)
  return file.startsWith("docs/") && file.endsWith(".md") ? [{ file, label: textOf(node) }] : []
}

const read = (file: string) => markdownToMdast(readFileSync(join(ROOT, file), "utf8"))

/** The entries of a shelf: one for each paragraph or item of a list that links to documents. */
const itemsOf = (nodes: ReadonlyArray<MdastNode>): Array<Item> =>
  nodes
    .flatMap((node) => (node.type === "list" ? childrenOf(node) : [node]))
    .flatMap((node): Array<Item> => {
      const [first, ...others] = documentsIn(INDEX, node).map(({ file, label }) => ({ label, slug: pageId(file) }))
      if (first === undefined) return []
      return others.length === 0 ? [first] : [{ label: first.label, collapsed: true, items: [first, ...others] }]
    })

const slugsOf = (item: Item): ReadonlyArray<string> => ("slug" in item ? [item.slug] : item.items.flatMap(slugsOf))

/** The shelves of the index, a heading each, with their pages in the order of its lists. */
const readShelves = (): ReadonlyArray<Group> => {
  const nodes = childrenOf(read(INDEX))
  const starts = nodes.flatMap((node, at) => (node.type === "heading" && node.depth === 2 ? [at] : []))
  return starts.flatMap((start, at) => {
    const [heading, ...content] = nodes.slice(start, starts[at + 1])
    const isShelf = content.some(({ type }) => type === "list")
    return heading === undefined || !isShelf
      ? []
      : [{ label: textOf(heading), collapsed: true, items: itemsOf(content) }]
  })
}

/** Fails when a page is on no shelf or on two, and when the table of the guides has another order than the index. */
const checkShelves = (shelves: ReadonlyArray<Group>) => {
  const listed = shelves.flatMap(slugsOf)
  const pages = globSync(PAGES, { cwd: ROOT }).map((file) => file.split(sep).join("/"))
  const expected = pages.filter((file) => file !== "README.md" && file !== INDEX)
  const faults = expected.flatMap((file) => {
    const times = listed.filter((slug) => slug === pageId(file)).length
    return times === 1 ? [] : [`${INDEX} lists ${file} ${times} times on its shelves, and has to list it once`]
  })
  const guides = childrenOf(read(GUIDES)).filter(({ type }) => type === "table")
  const inTable = guides.flatMap((table) => documentsIn(GUIDES, table)).map(({ file }) => pageId(file))
  const inIndex = listed.filter((slug) => /^guides\/[^/]+$/.test(slug))
  if (inTable.join() !== inIndex.join()) {
    faults.push(`${GUIDES} and ${INDEX} have other guides, or another order:\n  ${inTable}\n  ${inIndex}`)
  }
  if (faults.length > 0) throw new Error(faults.join("\n"))
}

/** The navigation, made of the lists of the index. */
export const navigation = () => {
  const shelves = readShelves()
  checkShelves(shelves)
  return shelves
}
