import { trackedFiles } from "../Repository.ts"
import { isCode, isMarkdown, linesOf, proseOf } from "./Prose.ts"

const MAX_COLUMNS = 120

/**
 * Prose and comments beyond 120 columns, one text each. Tables, and lines that are one long word, cannot be wrapped.
 */
export const wideLines = (): ReadonlyArray<string> => {
  const isComment = /^\s*(?:\/\/|\/?\*|--|#)/
  const canBreak = (line: string) => /\S\s+\S/.test(line.trim().replace(/^(?:\/\/|\/?\*+|--|#|[-*]|\d+\.)\s*/, ""))
  return trackedFiles().flatMap((file) => {
    const lines = isMarkdown(file)
      ? proseOf(file).filter(({ line }) => !line.startsWith("|"))
      : isCode(file)
        ? linesOf(file).flatMap((line, at) => (isComment.test(line) ? [{ line, number: at + 1 }] : []))
        : []
    return lines
      .filter(({ line }) => line.length > MAX_COLUMNS && canBreak(line))
      .map(({ line, number }) => `${file}:${number} has ${line.length} columns`)
  })
}
