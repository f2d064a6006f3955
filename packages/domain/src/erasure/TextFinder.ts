import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { foldText } from "../values/FoldedText.ts"

/** Whether a text contains what is searched. */
export type TextFinder = (text: string) => boolean

/** Forms inside of one another that a search opens: a JSON text in base64 in a JSON text. */
const MAX_DEPTH = 4

/** Characters of a group of base64, and the fewest that hold a byte. */
const GROUP = 4
const SHORTEST_RUN = 2

/** Folding makes at most three characters of one, whose UTF-8 is at least two bytes, or three base64 characters. */
const SHORTEST_FOLD = 8 / 9

/**
 * Searches a text after folding, as lists do (docs/reference/search.md#folding): also behind the escapes of JSON texts,
 * and in base64, wherever it begins in the text and in both alphabets.
 */
export const textFinder = (searched: string): TextFinder => {
  const needle = foldText(searched)
  const shortest = Math.max(SHORTEST_RUN, Math.floor(needle.length * SHORTEST_FOLD))
  const encoded = new RegExp(`[A-Za-z0-9+/_-]{${shortest},}`, "g")
  const isIn = (text: string, depth: number): boolean => {
    if (foldText(text).includes(needle)) return true
    if (depth === MAX_DEPTH) return false
    const unescaped = withoutEscapes(text)
    if (unescaped !== text && isIn(unescaped, depth + 1)) return true
    for (const [run] of text.matchAll(encoded)) {
      for (let from = 0; from < GROUP; from++) {
        const decoded = decodedText(run.slice(from))
        if (decoded !== "" && isIn(decoded, depth + 1)) return true
      }
    }
    return false
  }
  return (text) => isIn(text, 0)
}

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

/** The text with one level of the escapes of JSON replaced by what they stand for. */
const withoutEscapes = (text: string): string =>
  text.includes("\\")
    ? text.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, hex: string | undefined, letter: string) =>
        hex === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16))
      )
    : text

const utf8 = new TextDecoder()

/** The text in base64 of either alphabet, without a last group that is not whole; bytes without a text are marks. */
const decodedText = (run: string): string => {
  const length = run.length % GROUP === 1 ? run.length - 1 : run.length
  const standard = run.slice(0, length).replaceAll("-", "+").replaceAll("_", "/")
  const padded = standard.padEnd(Math.ceil(length / GROUP) * GROUP, "=")
  return Result.match(Base64.decode(padded), { onFailure: () => "", onSuccess: (bytes) => utf8.decode(bytes) })
}

/** The fewest characters of an erased text that are searched inside of others, and of a shortened copy of it. */
const SHORTEST_PART = 4
const SHORTEST_START = 16

/**
 * Finds copies of erased values: texts that contain one of them, and texts that are the start of one. A value of fewer
 * characters than four counts where it is the whole text.
 */
export const copyFinder = (values: ReadonlyArray<string>): TextFinder => {
  const erased = new Set(values)
  erased.delete("")
  const parts = [...erased].filter(({ length }) => length >= SHORTEST_PART).map(textFinder)
  const isStart = shortenedFinder(values)
  return (text) => erased.has(text) || parts.some((isIn) => isIn(text)) || isStart(text)
}

/** Finds shortened copies of erased values, as the service keeps of long texts: their start, of some length. */
export const shortenedFinder = (values: ReadonlyArray<string>): TextFinder => {
  const folded = [...new Set(values)].filter(({ length }) => length > SHORTEST_START).map(foldText)
  return (text) => {
    const start = foldText(text).replace(/(?:…|\.\.\.)$/, "")
    return start.length >= SHORTEST_START && folded.some((value) => value.startsWith(start))
  }
}

/** Finds what one of them finds. */
export const eitherFinder =
  (one: TextFinder, other: TextFinder): TextFinder =>
  (text) =>
    one(text) || other(text)
