import { readFileSync } from "node:fs"

/** An element of an XML document. */
export interface Xml {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<Xml>
  readonly text: string
}

const TOKEN = /<\?[^?]*\?>|<!--.*?-->|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|[^<]+/gsy
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

const decoded = (text: string) =>
  text.replace(/&(?:#(\d+)|(\w+));|&/g, (_, code?: string, name = "") => {
    const character = code === undefined ? ENTITIES[name] : String.fromCodePoint(Number(code))
    if (character === undefined) throw new Error("a bare & or an unknown entity")
    return character
  })

/** Reads the XML of these tests: elements, attributes in double quotes, texts, comments. Throws on anything else. */
export const readXml = (source: string): Xml => {
  if (NOT_XML.test(source)) throw new Error("a character that XML does not have")
  const open: Array<{ name: string; attributes: Record<string, string>; children: Array<Xml>; text: string }> = [
    { name: "", attributes: {}, children: [], text: "" }
  ]
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const token = TOKEN.exec(source)
    if (token === null) throw new Error("not XML")
    const [all, closes, name, attributes = "", isEmpty] = token
    const parent = open.at(-1)
    if (parent === undefined) throw new Error("an element is closed twice")
    if (name === undefined) {
      if (!all.startsWith("<")) parent.text += decoded(all)
    } else if (closes === "/") {
      if (parent.name !== name) throw new Error(`${parent.name} is closed as ${name}`)
      open.pop()
    } else {
      const pairs = [...attributes.matchAll(/([\w:.-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key,
        decoded(value)
      ])
      const element = { name, attributes: Object.fromEntries(pairs), children: [], text: "" }
      parent.children.push(element)
      if (isEmpty !== "/") open.push(element)
    }
  }
  const [root, ...others] = open[0]?.children ?? []
  if (open.length !== 1 || root === undefined || others.length > 0) throw new Error("not one closed element")
  return root
}

const schema = readXml(readFileSync(new URL("./junit.xsd", import.meta.url), "utf8"))
const elementNamed = (name: string) => schema.children.find(({ attributes }) => attributes["name"] === name)
const children = (of: Xml | undefined, name: string) => (of?.children ?? []).filter((child) => child.name === name)

/** The first violation of `junit.xsd` in a document; undefined for a valid one. */
export const faultOfJUnit = (source: string): string | undefined => {
  const root = readXml(source)
  return root.name === "testsuites" ? faultOf(root) : "the root is not testsuites"
}

const faultOf = (element: Xml): string | undefined => {
  const declared = elementNamed(element.name)
  const [type] = children(declared, "xs:complexType")
  if (type === undefined) return `${element.name} is not declared`
  if (type.attributes["mixed"] !== "true" && element.text.trim() !== "") return `${element.name} has a text`
  const attributes = children(type, "xs:attribute").map((attribute) => attribute.attributes)
  for (const { name = "", type: kind, use } of attributes) {
    const value = element.attributes[name]
    if (value === undefined && use === "required") return `${element.name} lacks ${name}`
    if (value !== undefined && kind === "xs:integer" && !/^[-+]?\d+$/.test(value)) return `${name} is not a number`
  }
  const unknown = Object.keys(element.attributes).find((name) => attributes.every((known) => known["name"] !== name))
  if (unknown !== undefined) return `${element.name} has an unknown attribute ${unknown}`
  let at = 0
  for (const { attributes: particle } of children(children(type, "xs:sequence")[0], "xs:element")) {
    const most = particle["maxOccurs"] === "unbounded" ? Number.POSITIVE_INFINITY : Number(particle["maxOccurs"])
    const first = at
    while (at - first < most && element.children[at]?.name === particle["ref"]) at++
    if (at - first < Number(particle["minOccurs"])) return `${element.name} lacks ${particle["ref"]}`
  }
  const extra = element.children[at]
  if (extra !== undefined) return `${extra.name} is not allowed here in ${element.name}`
  return element.children.map(faultOf).find((fault) => fault !== undefined)
}
