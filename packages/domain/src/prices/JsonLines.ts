/** Strings, brackets, separators and scalars of a JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g

/**
 * The line, from 1, on which the value at a path stands in a valid JSON text; the line of the nearest value above it
 * where the path leads nowhere. Linear in the text.
 */
export const jsonLine = (text: string, path: ReadonlyArray<PropertyKey>): number => {
  const wanted = path.map(String)
  const open: Array<{ key: string; readonly isList: boolean; index: number }> = []
  let best = { depth: -1, offset: 0 }
  let key: string | undefined
  const reached = (offset: number) => {
    const matches = open.every((each, depth) => each.key === wanted[depth])
    if (matches && open.length > best.depth && open.length <= wanted.length) best = { depth: open.length, offset }
  }
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match
    const inner = open.at(-1)
    const isKey = inner !== undefined && !inner.isList && key === undefined && token.startsWith('"')
    if (isKey) {
      key = token
      inner.key = JSON.parse(token)
    } else if (token === ":") continue
    else if (token === ",") {
      key = undefined
      if (inner?.isList === true) inner.key = String(++inner.index)
    } else if (token === "}" || token === "]") {
      open.pop()
      key = "closed"
    } else {
      reached(match.index)
      if (token === "{" || token === "[") {
        open.push({ key: token === "[" ? "0" : "", isList: token === "[", index: 0 })
        key = undefined
      }
    }
  }
  return text.slice(0, best.offset).split("\n").length
}
