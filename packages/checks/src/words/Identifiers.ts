/** A name of the code or of its SQL, with the line on which it stands. */
export interface Name {
  readonly name: string
  readonly line: number
}

/**
 * The identifiers of a TypeScript source, and the names that its SQL gives: aliases, common table expressions, and
 * columns with an underscore. Comments, other texts and the text of JSX are left out as far as they contain no code.
 */
export const namesOf = (text: string): ReadonlyArray<Name> => {
  const { code, templates } = partsOf(text)
  return [
    ...code.split("\n").flatMap((line, at) => found(line, at + 1, /(?<![\w$])[A-Za-z_$][\w$]*/g)),
    ...templates.split("\n").flatMap((line, at) => found(line, at + 1, SQL_NAMES))
  ]
}

/** The names of a text of SQL, such as a migration. */
export const namesOfSql = (text: string): ReadonlyArray<Name> =>
  text.split("\n").flatMap((line, at) => found(line.replace(/--.*$/, ""), at + 1, SQL_NAMES))

/** `AS name`, `name AS (`, `table name ON`, and names of several words. */
const SQL_NAMES =
  /(?<=\bAS\s+"?)[a-z]\w*|\b[a-z]\w*(?=\s+AS(?: MATERIALIZED| NOT MATERIALIZED)?\s*\()|\b[a-z]+(?:_[a-z0-9]+)+\b|(?<=\b(?:FROM|JOIN)\s+[a-z_]+\s+)[a-z]\w*\b/g

const found = (text: string, line: number, pattern: RegExp): ReadonlyArray<Name> =>
  [...text.matchAll(pattern)].map(([name]) => ({ name, line }))

/**
 * The source twice, each with blanks for what belongs to the other: its code, and the text of its templates. Comments,
 * quoted texts and regular expressions are in neither. Lines stay as they are.
 */
const partsOf = (text: string): { readonly code: string; readonly templates: string } => {
  const code: Array<string> = []
  const templates: Array<string> = []
  /** The open braces of each template whose code is read. */
  const depths: Array<number> = []
  let isTemplate = false
  let at = 0
  const take = (length: number, owner: "code" | "template" | "neither") => {
    const part = text.slice(at, at + length)
    const blank = blankOf(part)
    code.push(owner === "code" ? part : blank)
    templates.push(owner === "template" ? part : blank)
    at += length
  }
  while (at < text.length) {
    const char = text[at] ?? ""
    if (isTemplate) {
      const plain = lengthOf(TEMPLATE_TEXT, text, at)
      if (plain > 0) take(plain, "template")
      else if (char === "\\") take(2, "neither")
      else {
        isTemplate = false
        if (char === "$") depths.push(0)
        take(char === "$" ? 2 : 1, "neither")
      }
      continue
    }
    const plain = lengthOf(CODE, text, at)
    const ignored = plain > 0 ? 0 : ignoredAt(text, at)
    const depth = depths.at(-1)
    if (plain > 0) take(plain, "code")
    else if (ignored > 0) take(ignored, "neither")
    else if (char === "`" || (char === "}" && depth === 0)) {
      if (char === "}") depths.pop()
      isTemplate = true
      take(1, "neither")
    } else {
      if (depth !== undefined && (char === "{" || char === "}")) depths.splice(-1, 1, depth + (char === "{" ? 1 : -1))
      take(1, "code")
    }
  }
  return { code: code.join(""), templates: templates.join("") }
}

const blankOf = (part: string) => part.replace(/[^\n]+/g, " ")

/** What cannot begin anything else. */
const CODE = /[^"'`/{}]+/y
const TEMPLATE_TEXT = /(?:[^`\\$]|\$(?!\{))+/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const QUOTED = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y
const REGEXP = /\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y

const lengthOf = (pattern: RegExp, text: string, at: number) => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

/** The length of the comment, quoted text or regular expression that begins here; 0 for code. */
const ignoredAt = (text: string, at: number): number => {
  const char = text[at]
  if (char === '"' || char === "'") return lengthOf(QUOTED, text, at)
  if (char !== "/") return 0
  const comment = lengthOf(COMMENT, text, at)
  if (comment > 0) return comment
  // A slash after a value divides.
  const before = text.slice(Math.max(0, at - 40), at)
  return /(?:[=(,:[!&|?{};>]|\breturn|^)\s*$/.test(before) ? lengthOf(REGEXP, text, at) : 0
}
