import type { ESTree, Plugin } from "vite"

/** Packages whose schemas describe themselves for the OpenAPI documents, which no browser shows. */
const DESCRIBED = /\/packages\/(api|domain)\/src\//
const PROSE = new Set(["description", "summary"])

/** Functions whose first argument says what a field is. */
const DESCRIBES = new Set(["about", "uuid", "isoDate", "commaSeparated", "textParam"])

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>

/**
 * Empties the texts by which the contract describes itself: `Field.text("...")`, `description: "..."` and
 * `summary: "..."`, and takes out what only the document and the server read of an endpoint and of a group:
 * `.annotateMerge(operation({...}))` and `.annotateMerge(tag("..."))`. They are a fifth of the client's script and say
 * nothing in a browser.
 */
export const withoutProse = (): Plugin => ({
  name: "runplane:without-prose",
  apply: "build",
  transform(code, id) {
    if (!DESCRIBED.test(id)) return null
    const cuts: Array<readonly [start: number, end: number, instead: string]> = []
    const program: ESTree.Program = this.parse(code)
    walk(program, (node) => {
      for (const { start, end, instead } of proseOf(node)) cuts.push([start, end, instead])
    })
    if (cuts.length === 0) return null
    // A span within a removed span is removed with it.
    const outer = cuts.filter(
      ([start, end]) => !cuts.some(([from, to]) => from <= start && end <= to && to - from > end - start)
    )
    let shorter = code
    for (const [start, end, instead] of outer.toSorted(([one], [other]) => other - one)) {
      shorter = `${shorter.slice(0, start)}${instead}${shorter.slice(end)}`
    }
    return { code: shorter, map: null }
  }
})

interface Cut {
  readonly start: number
  readonly end: number
  readonly instead: string
}

/** The prose of a node and its examples; only texts that stand there as they are, so that nothing is lost with them. */
const proseOf = (node: Node): ReadonlyArray<Cut> => {
  if (node.type === "Property" && isNode(node["key"]) && isNode(node["value"])) {
    const { key, value } = { key: node["key"], value: node["value"] }
    if (!isText(value) || typeof key["name"] !== "string") return []
    // The name of a schema in the document.
    if (key["name"] === "identifier") return [cut(value, "void 0")]
    return PROSE.has(key["name"]) ? [cut(value, '""')] : []
  }
  if (node.type !== "CallExpression" || !isNode(node["callee"]) || !Array.isArray(node["arguments"])) return []
  const { name, object, property } = node["callee"]
  const [first]: ReadonlyArray<unknown> = node["arguments"]
  if (isNode(object) && isNode(property) && property["name"] === "annotateMerge" && isOperation(first)) {
    return [{ start: object.end, end: node.end, instead: "" }]
  }
  const describes = (typeof name === "string" && DESCRIBES.has(name)) || (isNode(object) && object["name"] === "Field")
  const [prose, example]: ReadonlyArray<unknown> = node["arguments"]
  if (!describes || !isNode(prose) || !isText(prose)) return []
  return isNode(example) && isText(example) ? [cut(prose, '""'), cut(example, "void 0")] : [cut(prose, '""')]
}

/** What an endpoint says of itself, `operation({...})`, or a group, `tag("...")`. */
const isOperation = (node: unknown): boolean =>
  isNode(node) &&
  node.type === "CallExpression" &&
  isNode(node["callee"]) &&
  (node["callee"]["name"] === "operation" || node["callee"]["name"] === "tag")

const cut = ({ end, start }: Node, instead: string): Cut => ({ start, end, instead })

/** A text, or texts put together. */
const isText = (node: Node): boolean => {
  if (node.type === "Literal") return typeof node["value"] === "string" && node["value"] !== ""
  if (node.type !== "BinaryExpression" || node["operator"] !== "+") return false
  return isNode(node["left"]) && isNode(node["right"]) && isText(node["left"]) && isText(node["right"])
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const walk = (node: unknown, visit: (node: Node) => void): void => {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, visit)
    return
  }
  if (!isNode(node)) return
  visit(node)
  for (const child of Object.values(node)) if (typeof child === "object") walk(child, visit)
}
