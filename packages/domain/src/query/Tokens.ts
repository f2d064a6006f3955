import * as Result from "effect/Result"
import { QueryRefused, type Span } from "./Query.ts"

/** A piece of a query. A quoted text is never an operator or a name. */
export interface Token extends Span {
  readonly kind: "word" | "quoted" | ":" | "(" | ")" | "," | "-" | "or" | "and" | ">" | ">=" | "<" | "<=" | ".." | "end"
  readonly text: string
  /** Whether white space, or nothing, precedes it. */
  readonly isApart: boolean
}

const SINGLE: ReadonlyMap<string, Token["kind"]> = new Map([
  [":", ":"],
  ["(", "("],
  [")", ")"],
  [",", ","],
  [">", ">"],
  ["<", "<"]
])

const SPACE = /\s/u
/** Characters that end a word. A colon ends a name, but not a value such as a time. */
const ENDS_WORD = /[\s(),"<>]/u

/** Cuts a query into pieces. Fails on a quote that is not closed. */
export const tokensOf = (text: string): Result.Result<ReadonlyArray<Token>, QueryRefused> => {
  const tokens: Array<Token> = []
  let at = 0
  const push = (kind: Token["kind"], end: number, value = text.slice(at, end)) => {
    const isApart = at === 0 || SPACE.test(text[at - 1] ?? "")
    tokens.push({ kind, text: value, start: at, end, isApart })
    at = end
  }
  while (at < text.length) {
    const letter = text[at] ?? ""
    const isValue = isAfterName(tokens, SPACE.test(text[at - 1] ?? ""))
    const single = SINGLE.get(letter)
    if (SPACE.test(letter)) at += 1
    else if (letter === '"') {
      const read = quotedFrom(text, at)
      if (read === undefined) return notClosed(at)
      push("quoted", read.end, read.value)
    } else if ((letter === ">" || letter === "<") && text[at + 1] === "=") push(`${letter}=`, at + 2)
    else if (text.startsWith("..", at)) push("..", at + 2)
    else if (single !== undefined) push(single, at + 1)
    else if (letter === "-" && !isValue) push("-", at + 1)
    else {
      const end = wordEnd(text, at, isValue)
      const word = text.slice(at, end)
      // The name after the dot of a field may be quoted: vote."agent://lead".
      const isNamed = isValue && tokens.at(-1)?.kind === ":" && tokens.at(-2)?.text === "has"
      const path = word.endsWith(".") && (isNamed || !isValue) ? quotedFrom(text, end) : undefined
      if (path !== undefined && (isNamed || text[path.end] === ":")) {
        push("word", path.end, `${word}${path.value}`)
        continue
      }
      push(!isValue && word === "OR" ? "or" : !isValue && word === "AND" ? "and" : "word", end)
    }
  }
  push("end", at)
  return Result.succeed(tokens)
}

const notClosed = (position: number) =>
  Result.fail(new QueryRefused({ why: "the quote is not closed", position, expected: ['"'] }))

/** Whether a value may come next: after the colon of a name, or further on in its list, comparison or range. */
const isAfterName = (tokens: ReadonlyArray<Token>, isApart: boolean): boolean => {
  const [before, last] = [tokens.at(-2), tokens.at(-1)]
  switch (last?.kind) {
    case ":":
    case ">":
    case ">=":
    case "<":
    case "<=":
    case ",":
      return true
    case "..":
      // A range whose end is open may be followed by anything.
      return !isApart
    case "(":
      return before?.kind === ":"
    default:
      return false
  }
}

const wordEnd = (text: string, from: number, isValue: boolean): number => {
  let end = from + 1
  while (end < text.length && !ENDS_WORD.test(text[end] ?? "")) {
    if (!isValue && text[end] === ":") break
    if (text.startsWith("..", end)) break
    end += 1
  }
  return end
}

/** A backslash takes the next letter as it is. */
const quotedFrom = (text: string, from: number): { readonly end: number; readonly value: string } | undefined => {
  if (text[from] !== '"') return undefined
  let value = ""
  for (let at = from + 1; at < text.length; at += 1) {
    const letter = text[at] ?? ""
    if (letter === '"') return { end: at + 1, value }
    if (letter === "\\" && at + 1 < text.length) at += 1
    value += text[at] ?? ""
  }
  return undefined
}
