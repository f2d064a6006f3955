/** A value of a JSON text that has no members or elements. Offsets are those of the text, ends excluded. */
export interface Leaf {
  readonly kind: "text" | "number" | "literal"
  /** The whole value, a text with its quotes. */
  readonly start: number
  readonly end: number
  /** The value, a text without its quotes. */
  readonly from: number
  readonly to: number
  /** Name of the member that the value is, or that the list around it is; empty outside of members. */
  readonly name: string
  /** Name of the member around that one. */
  readonly outer: string
  /** Whether the value is the member itself, and not an element of a list. */
  readonly isMember: boolean
}

const QUOTE = '"'
const BACKSLASH = "\\"
const SCALAR = /[-\w.+]+/y
const COLON = /\s*:/y

/** The leaves of a text that is JSON, in the order of the text, in one pass. */
export const leavesOf = (json: string): ReadonlyArray<Leaf> => {
  const leaves: Array<Leaf> = []
  const around: Array<{ readonly name: string; readonly isList: boolean }> = []
  let name = ""
  const add = (kind: Leaf["kind"], start: number, end: number): void => {
    const quote = kind === "text" ? 1 : 0
    const { isList, name: outer } = around.at(-1) ?? { isList: true, name: "" }
    leaves.push({ kind, start, end, from: start + quote, to: end - quote, name, outer, isMember: !isList })
  }
  for (let at = 0; at < json.length; ) {
    const char = json[at] ?? ""
    if (char === QUOTE) {
      const end = stringEnd(json, at)
      COLON.lastIndex = end
      if (COLON.test(json)) name = json.slice(at + 1, end - 1)
      else add("text", at, end)
      at = end
    } else if (char === "{" || char === "[") {
      around.push({ name, isList: char === "[" })
      at += 1
    } else if (char === "}" || char === "]") {
      name = around.pop()?.name ?? ""
      at += 1
    } else {
      SCALAR.lastIndex = at
      if (SCALAR.test(json)) {
        add(/[-\d]/.test(char) ? "number" : "literal", at, SCALAR.lastIndex)
        at = SCALAR.lastIndex
      } else at += 1
    }
  }
  return leaves
}

/** The offset after the text that begins here; the end where it does not end. */
const stringEnd = (json: string, start: number): number => {
  for (let quote = json.indexOf(QUOTE, start + 1); quote !== -1; quote = json.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1
    while (before > start && json[before] === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
  return json.length
}
