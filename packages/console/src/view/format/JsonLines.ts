import { wholeStart } from "@runplane/domain"

/** A line of a JSON value that is written over many lines. */
export interface JsonLine {
  /** JSON pointer of the value (`/participants/0`), empty for the whole. */
  readonly pointer: string
  readonly depth: number
  /** Name of the member; undefined for the whole and for the items of a list. */
  readonly name: string | undefined
  readonly text: string
  readonly kind: "text" | "number" | "word" | "open" | "close" | "closed"
  /** Characters of a text that are left out here. */
  readonly leftOut: number
}

/** Characters of a text on its line; the whole is shown on demand. */
const LETTERS = 300

/** Lines of one value; further members are closed. */
export const MAX_LINES = 200_000

/** The pointer of a member of the value at a pointer. */
export const memberPointer = (pointer: string, name: string) =>
  `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`

/** The lines of a value, without the content of closed members. Total over JSON; depth costs no stack. */
export const jsonLines = (
  value: unknown,
  isClosed: (pointer: string, depth: number) => boolean
): ReadonlyArray<JsonLine> => {
  const lines: Array<JsonLine> = []
  interface Work {
    readonly pointer: string
    readonly depth: number
    readonly name: string | undefined
    readonly value: unknown
    readonly end?: string
  }
  const stack: Array<Work> = [{ pointer: "", depth: 0, name: undefined, value }]
  for (let work = stack.pop(); work !== undefined; work = stack.pop()) {
    const { depth, end, name, pointer } = work
    const base = { pointer, depth, name, leftOut: 0 }
    if (end !== undefined) {
      lines.push({ ...base, name: undefined, text: end, kind: "close" })
      continue
    }
    if (typeof work.value !== "object" || work.value === null) {
      lines.push({ ...base, ...leaf(work.value) })
      continue
    }
    const isList = Array.isArray(work.value)
    const [open, close] = isList ? ["[", "]"] : ["{", "}"]
    // A typed value may have members that are not there.
    const entries: ReadonlyArray<readonly [string, unknown]> = Object.entries(work.value).filter(
      ([, member]) => member !== undefined
    )
    if (entries.length === 0) {
      lines.push({ ...base, text: `${open}${close}`, kind: "word" })
      continue
    }
    if (isClosed(pointer, depth) || lines.length + stack.length > MAX_LINES) {
      const many = `${entries.length} ${isList ? "item" : "member"}${entries.length === 1 ? "" : "s"}`
      lines.push({ ...base, text: `${open} ${many} ${close}`, kind: "closed" })
      continue
    }
    lines.push({ ...base, text: open, kind: "open" })
    stack.push({ pointer, depth, name: undefined, value: undefined, end: close })
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at]
      if (entry === undefined) continue
      const [key, member] = entry
      stack.push({
        pointer: memberPointer(pointer, key),
        depth: depth + 1,
        name: isList ? undefined : key,
        value: member
      })
    }
  }
  return lines
}

const leaf = (value: unknown): Pick<JsonLine, "text" | "kind" | "leftOut"> => {
  if (typeof value !== "string") {
    return { text: String(value), kind: typeof value === "number" ? "number" : "word", leftOut: 0 }
  }
  const text = wholeStart(value, LETTERS)
  return { text: JSON.stringify(text), kind: "text", leftOut: value.length - text.length }
}

/** The value at a pointer; undefined where there is none. */
export const valueAt = (value: unknown, pointer: string): unknown => {
  let current = value
  for (const part of pointer.split("/").slice(1)) {
    if (typeof current !== "object" || current === null) return undefined
    current = Reflect.get(current, part.replaceAll("~1", "/").replaceAll("~0", "~"))
  }
  return current
}

/** Matches of one search. */
export const MAX_MATCHES = 1_000

/**
 * The pointers of the members whose name or value contains a text, in the order of the lines, at most `MAX_MATCHES`.
 * Case is ignored. Lists and objects match by their names.
 */
export const jsonMatches = (value: unknown, text: string): ReadonlyArray<string> => {
  const wanted = text.toLowerCase()
  if (wanted === "") return []
  const found: Array<string> = []
  const stack: Array<readonly [pointer: string, name: string, value: unknown]> = [["", "", value]]
  for (let work = stack.pop(); work !== undefined && found.length < MAX_MATCHES; work = stack.pop()) {
    const [pointer, name, member] = work
    const isLeaf = typeof member !== "object" || member === null
    const isMatch = name.toLowerCase().includes(wanted) || (isLeaf && String(member).toLowerCase().includes(wanted))
    if (isMatch && member !== undefined) found.push(pointer)
    if (isLeaf) continue
    const isList = Array.isArray(member)
    for (const [key, inner] of Object.entries(member).toReversed()) {
      stack.push([memberPointer(pointer, key), isList ? "" : key, inner])
    }
  }
  return found
}

/** The pointers of the lists and objects around some members, the whole included. */
export const jsonParents = (pointers: ReadonlyArray<string>): ReadonlySet<string> => {
  const parents = new Set<string>()
  for (const pointer of pointers) {
    for (let at = pointer.lastIndexOf("/"); at >= 0; at = pointer.lastIndexOf("/", at - 1)) {
      const parent = pointer.slice(0, at)
      if (parents.has(parent)) break
      parents.add(parent)
      if (at === 0) break
    }
  }
  return parents
}
